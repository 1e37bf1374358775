"""Uploaded files over HTTP."""
