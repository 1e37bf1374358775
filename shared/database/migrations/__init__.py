"""Alembic migrations: how the tables of one release become those of the next, on both databases."""
