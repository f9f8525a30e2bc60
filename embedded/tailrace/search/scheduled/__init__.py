"""Searches that run at fixed intervals, and whose results go to channels of alerts.yaml (docs/SEARCH.md).

saved.py      a scheduled search, and its rows in ClickHouse
slots.py      which run is due, and which were missed
found.py      what a run finds, as the role of the search
message.py    what a channel receives
runner.py     runs what is due, one search after the other
outbox.py     sends results to one channel, again after a pause if it fails
"""
