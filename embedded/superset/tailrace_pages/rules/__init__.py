"""The list of rules and the page of one rule.

listing.py      the columns and rows of the tables, the numbers and the chart
backtests.py    requests to the service that runs backtests
views.py        the routes
"""
