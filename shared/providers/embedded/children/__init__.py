"""Child processes: parsers that may be killed at any moment, and embedders that hold the model."""
