"""What the system says of itself: facts as metrics, and the alerts that follow from them (alerts.yaml)."""
