"""The page Retention: the retention of each table with its requirements, the next expiry, and legal holds.

listing.py      the columns of the tables and of the CSV files, and their rows
hold_listing.py the same of a legal hold
holding.py      the fields of the forms of legal holds, and the requests to the evidence service
reading.py      what the page reads as the viewer
blueprint.py    the entry of the menu, and the blueprint
views.py, hold_views.py    the routes
"""
