"""`python -m tailrace.facts`, the name by which containers and charts start tailrace.snapshots."""
