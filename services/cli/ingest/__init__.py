"""`knowgate ingest`: brings files into a space, once each, and tells what became of every one."""
