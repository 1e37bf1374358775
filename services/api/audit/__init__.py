"""What the api writes to the audit beside the moves of state: reads and denials."""
