"""The HTTP process: authenticates, authorises, accepts work, answers reads."""
