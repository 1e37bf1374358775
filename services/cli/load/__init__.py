"""Loads whose figures are worth keeping: many files, and one big one."""
