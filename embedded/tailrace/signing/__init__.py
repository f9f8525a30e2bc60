"""Keys of the hosts that sign byte ranges of logs (docs/SIGNING.md)."""
