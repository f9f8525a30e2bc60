"""The pages of entities (users, clients, tables, data classes) and of sessions.

kinds.py        the kinds of entities, their numbers and the side tables of each
addresses.py    names from logs in addresses
overview.py     the headline numbers and the chart, from the rows of sql/queries/page_entity_timeline.sql
records.py      the table of records across logs: its columns, rows, alerts between them and pages by time
listing.py      the side tables and the search: columns and rows
reading.py      what a page reads from ClickHouse
views.py        the routes
"""
