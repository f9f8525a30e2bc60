"""The schema of ClickHouse: migrations, retention and rewinds."""
