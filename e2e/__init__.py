"""End-to-end tests, chaos and benchmarks: the real stack under faults, compared with what was written."""
