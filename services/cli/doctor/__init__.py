"""`knowgate doctor`: looks at everything that a gateway on this machine needs."""
