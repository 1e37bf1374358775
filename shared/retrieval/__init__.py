"""Authorised search with fused ranking, and citations read back in context."""
