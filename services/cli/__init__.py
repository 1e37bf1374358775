"""The knowgate command line."""
