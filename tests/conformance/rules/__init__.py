"""What every single answer must keep, whatever was asked: small predicates over it, grouped by what they say."""
