"""The commands, one module each: they read options, call the room that does it, and print."""
