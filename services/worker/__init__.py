"""The command process: runs one step against provider and object store, reports events."""
