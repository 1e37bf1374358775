"""Fuzzing of the twenty routes by their OpenAPI document: `python -m tests.fuzz`."""
