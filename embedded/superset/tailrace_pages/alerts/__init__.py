"""The alert inbox and the page of one alert.

filters.py      the filters of an address, their parameters of sql/queries/page_alerts.sql, and presets
listing.py      the columns of the list, the headline numbers and their rows
details.py      one alert: facts, evidence, history, earlier alerts
handling.py     actions of the forms, with the code and the audit trail of `tailrace alerts`
views.py        the routes
"""
