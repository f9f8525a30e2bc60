"""The logs of the demonstration."""
