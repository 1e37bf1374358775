"""One function per move of state: load, lock, decide, save, audit, enqueue."""
