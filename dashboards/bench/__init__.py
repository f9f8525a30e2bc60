"""Measures the dashboards over three months of events, drawn in a browser and queried repeatedly."""
