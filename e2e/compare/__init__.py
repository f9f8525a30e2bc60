"""`make compare`: compares what two versions write for the same input (docs/TESTING.md)."""
