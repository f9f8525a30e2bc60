"""The page Retention: what is kept, how long and why, what expires next, and legal holds.

listing.py      the columns of the tables and of the CSV files, and their rows
views.py        the routes
"""
