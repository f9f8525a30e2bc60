"""The schema of ClickHouse: migrations, shards, retention and rewinds."""
