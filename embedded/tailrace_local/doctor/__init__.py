"""Diagnoses what prevents this installation from reading a log."""
