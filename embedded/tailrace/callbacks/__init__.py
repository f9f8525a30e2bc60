"""`python -m tailrace.callbacks`, the name by which containers and charts start tailrace.alerts.callbacks."""
