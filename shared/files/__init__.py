"""Streaming files into and out of an object store."""
