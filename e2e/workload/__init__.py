"""Writes logs as real servers do, and a manifest of it: the ground truth of the end-to-end tests."""
