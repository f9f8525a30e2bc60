"""Rules and detectors: how they reach the detect job."""
