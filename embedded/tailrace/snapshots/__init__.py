"""Stores snapshots of servers: reads tailrace.snapshots and inserts into ClickHouse, until it is stopped.

Delivery is at least once. The tables deduplicate: each row's key and content depend only on the record."""
