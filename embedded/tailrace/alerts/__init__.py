"""Alerts: links to them, triage, suppressions, and their delivery."""
