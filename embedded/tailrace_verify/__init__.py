"""Verifies logs, rows and checkpoints of Tailrace without Tailrace: it depends on `cryptography` alone."""
