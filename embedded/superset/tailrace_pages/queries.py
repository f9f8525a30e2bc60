"""The text of a query for a page: a file of sql/queries by its name, or SQL. See
tailrace.reading.query_text."""

from tailrace.reading.query_text import text_of

__all__ = ["text_of"]
