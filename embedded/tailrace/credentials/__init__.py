"""Certificates, and the names of passwords."""
