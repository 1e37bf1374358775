"""What one tenant may ask of the api: requests in a second, and work that has not ended."""
