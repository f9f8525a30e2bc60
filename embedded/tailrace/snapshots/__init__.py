"""Stores what servers say of themselves: reads tailrace.snapshots, inserts into ClickHouse, until stopped.

At least once, into tables in which a row that comes twice counts once: each row's key and content follow from
the record alone."""
