"""Tailrace for production: provisioning, alerts, ledger, evidence and health of any installation."""

__version__ = "0.2.0"
