"""A gateway under a steady mixed load for a while, and how fast the memory of each of its processes grows."""
