"""ClickHouse: its client, users, row policies and server configuration."""
