"""Tests the queries of the alert inbox: filters, order, states as in alerts.sql, history and earlier alerts."""
