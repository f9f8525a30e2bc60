"""End-to-end tests, chaos and benchmarks: the real stack, under fire, against what was really written."""
