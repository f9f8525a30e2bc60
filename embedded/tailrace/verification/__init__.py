"""Verifies ClickHouse against the transparency log, and adds the log's proofs to evidence."""
