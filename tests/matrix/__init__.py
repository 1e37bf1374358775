"""Who may do what, walked through route by route: `python -m tests.matrix`."""
