"""The page Search: one grammar over the events of all logs, which the package tailrace.search compiles.

asking.py     the search of an address: its time range, its role, and what is wrong with it
listing.py    events and the rows of pipes as tables, with links to other pages
charts.py     the chart of `| timeline`, and the bars of `| top`
views.py      the routes of the search
saved_listing.py  saved searches as rows, and what their forms contain
saved_views.py    the routes of saved searches
blueprint.py  the page's entry in the menu, and the blueprint
"""
