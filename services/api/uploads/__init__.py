"""Resumable uploads by tus 1.0."""
