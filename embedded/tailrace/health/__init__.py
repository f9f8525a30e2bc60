"""Health of Tailrace itself: metrics, and the alerts that are derived from them (alerts.yaml)."""
