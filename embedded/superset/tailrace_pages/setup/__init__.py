"""The page Setup: which logs of each server arrive, what to change for the others, and which rules can fire.

servers.py      the sources of a server with their state and problems
findings.py     problems and their fixes, from the checks of `tailrace doctor` (tailrace_capture.doctor)
rules.py        rules that cannot fire on a server, grouped by what would change it
changes.py      what contains the events and fields that its logs lack, by product
listing.py      the columns of tables and CSV files
reading.py      the queries, which depend on what the viewer's audience may read
views.py        the routes
"""
