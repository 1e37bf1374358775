"""Logs, metrics and trace context, the same in every process."""
