"""The ten invariants as pure functions of what was seen and of what is left."""
