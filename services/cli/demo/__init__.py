"""`knowgate demo`: real documents through the whole gateway, and what came of it as one JSON object."""
