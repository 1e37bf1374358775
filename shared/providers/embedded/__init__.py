"""The embedded retrieval engine: parsing, chunking, embedding and one SQLite index, with nothing to install."""
