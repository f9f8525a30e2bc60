"""The text of a query for a page: a file of sql/queries by its name, or SQL. See
tailrace.clickhouse.query_files."""

from tailrace.clickhouse.query_files import text_of

__all__ = ["text_of"]
