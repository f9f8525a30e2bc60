"""Saved searches, which may run at fixed intervals and send results to channels (docs/SEARCH.md).

saved.py      a saved search with its schedule, and its rows in ClickHouse
library.py    what a person sees of them, and may change
access.py     suspends schedules of people who no longer have the account or the role
slots.py      which run is due, which were missed, and the state of a schedule
found.py      what a run finds, as the role of the search
message.py    what a channel receives
runner.py     runs what is due, one search after the other
outbox.py     sends results to one channel, again after a pause if it fails
"""
