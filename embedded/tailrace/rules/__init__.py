"""Publishes rules and detectors to the detect job."""
