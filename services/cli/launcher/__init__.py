"""`knowgate up`: everything on this machine by one command."""
