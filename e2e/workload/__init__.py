"""Writes logs like real servers, and a manifest of them: the ground truth of the end-to-end tests."""
