"""The supervisor: how components are defined, installed, started, watched and stopped."""
