"""The one mind: applies events, decides what comes next, dispatches commands."""
