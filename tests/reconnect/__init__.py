"""Restarts the broker again and again under a whole gateway that works, and counts what was lost by it."""
