"""Plans of the heaviest statements: EXPLAIN FORMAT=JSON, for what can do nothing but read."""
