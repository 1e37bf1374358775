"""The index: one SQLite file that workers write while the api reads it."""
