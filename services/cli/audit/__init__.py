"""Verifies the audit, and reads it through the api."""
