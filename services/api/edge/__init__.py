"""What every request passes through: path, stamps, identity, body, envelope, errors."""
