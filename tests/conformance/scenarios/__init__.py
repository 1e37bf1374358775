"""What must hold between several answers: each function is one rule and leads the gateway there by itself."""
