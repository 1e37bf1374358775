"""One module for each step: what a command asks of provider and object store, and what it then tells."""
