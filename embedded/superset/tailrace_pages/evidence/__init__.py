"""The page Evidence: gaps of a period, the requirements of a framework with their rows, exports, reviews.

periods.py      the period of an address in whole minutes, and calendar periods
gaps.py         minutes without audit by server, and the warnings above the requirements
rows.py         the columns of a result's rows
actions.py      requests to the evidence service, which holds the key
views.py        the routes
"""
