"""Children of the launcher: started, watched, started again, stopped in order."""
