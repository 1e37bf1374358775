"""Retrieval providers behind two Protocols: reads and writes."""
