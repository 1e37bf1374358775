"""Tables, engines and guarded writes on SQLite and PostgreSQL."""
