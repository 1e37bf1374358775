"""Download links and what they fetch."""
