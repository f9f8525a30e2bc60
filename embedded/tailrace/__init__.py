"""Tailrace on one machine: installs, starts, watches and stops the real parts, and keeps their books."""

__version__ = "0.1.0"
