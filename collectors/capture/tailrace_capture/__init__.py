"""Tailrace's service beside a database server: what the server says of itself, asked over SQL.

Three things share one careful way to connect (`server`): snapshots of accounts, grants, settings and the like
(`service`), plans of the heaviest statements (`explain`), and `doctor`, which says what is missing for all of
it. Needs Python 3.11 and PyMySQL.
"""

__version__ = "0.2.0"
