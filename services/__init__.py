"""The processes that make up a Knowgate deployment."""
