"""Rules: pure functions over frozen values. No IO, no clock, no random."""
