"""The tables, one module per part of the model. Everything below `database` is written through these."""
