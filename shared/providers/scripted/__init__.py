"""A provider that behaves as told: for tests and benches, deterministic, alone or shared by several processes."""
