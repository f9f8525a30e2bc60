"""Proposes data classes of columns from a server's metadata, and from samples of values if asked to."""
