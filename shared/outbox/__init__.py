"""Publishes the commands that the database holds, within a window per step."""
