"""Capture: a collector that reads a database server over SQL.

Its commands share one restricted connection (`server`): snapshots of accounts, grants, settings and more
(`service`), plans of the heaviest statements (`explain`), and `doctor`, which lists what prevents them from
working. Needs Python 3.11 and PyMySQL.
"""

__version__ = "0.2.0"
