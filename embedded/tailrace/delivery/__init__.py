"""`python -m tailrace.delivery`, the name by which containers and charts start tailrace.alerts.delivery."""
