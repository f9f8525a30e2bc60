"""The alert inbox, the page of one alert, incidents and risk scores.

filters.py      the filters of an address, their parameters of sql/queries/page_alerts.sql, and presets
listing.py      the columns of the list, the headline numbers and their rows
details.py      one alert: facts, evidence, history, earlier alerts
gaps.py         the status of the byte range of an alert about a gap
handling.py     actions of the forms, with the code and the audit trail of `tailrace alerts`
incidents.py    the list of incidents, one of them, actions on their alerts
tried_accounts.py  the accounts that the clients of an incident tried
risk.py         risk scores and their explanation
forms.py        what forms offer, and where they lead
blueprint.py    the entry of the menu, and the blueprint
views.py, incident_views.py, risk_views.py    the routes
"""
