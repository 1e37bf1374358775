"""Search and citations over HTTP."""
