"""Plans of the heaviest statements: EXPLAIN FORMAT=JSON, only for read-only statements."""
