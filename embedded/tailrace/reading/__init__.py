"""Reads stored rows for several readers: work pages, the command line and the API.

A reading function takes `rows`, which runs a query of sql/queries as one user of ClickHouse
(tailrace.reading.rows), and returns plain values. Texts for a page stay with the page.
"""
