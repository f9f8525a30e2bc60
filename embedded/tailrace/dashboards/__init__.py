"""The assets, roles and users of Superset."""
