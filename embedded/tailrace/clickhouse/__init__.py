"""ClickHouse: its client, users, row policies, server configuration and shards."""
