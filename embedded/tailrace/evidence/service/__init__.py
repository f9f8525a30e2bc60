"""The evidence service: exports, verifies and signs for the dashboards, and records their legal holds. The
dashboards have neither its key nor its account of ClickHouse.

It listens on a Unix socket that only its own user can open. `client` uses the standard library only, because
Superset's process imports it. `exports` runs one export after the other, and `server` answers requests.
"""
