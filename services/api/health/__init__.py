"""Whether the process lives, is ready, and how it fares."""
