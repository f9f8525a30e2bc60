"""The page Search: one grammar over the events of all logs, which the package tailrace.search compiles.

asking.py     the search of an address: its time range, its role, and what is wrong with it
listing.py    events and the rows of pipes as tables, with links to other pages
charts.py     the chart of `| timeline`, and the bars of `| top`
views.py      the routes
"""
