"""The stream of transitions."""
