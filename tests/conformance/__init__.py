"""Talks to a running gateway as the agents' client does, and checks every answer more strictly than that client."""
