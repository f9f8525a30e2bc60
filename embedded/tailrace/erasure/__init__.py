"""Pseudonyms of users and clients in rows, and the vault of their names: docs/ERASURE.md."""
