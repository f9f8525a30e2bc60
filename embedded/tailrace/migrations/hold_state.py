"""Whether the TTLs of ClickHouse already keep the rows of a legal hold, for the rows that a reader sees."""

from collections.abc import Mapping, Sequence

from tailrace.clickhouse.client import Row
from tailrace.migrations import expiry
from tailrace.retention import holds
from tailrace.retention.holds import Reads
from tailrace.retention.selectors import Selector, quoted

DEFINITIONS = """
SELECT name, create_table_query AS definition FROM system.tables
WHERE database = 'tailrace' AND engine LIKE '%MergeTree'
"""
BEFORE, ALONE, WITH_OTHERS = "SELECT if(", ", 1, 2)", " OR 0, 1, 2)"
"""What is around a condition, so that ClickHouse formats it as the only one of a TTL or one of several."""
PARTS_FOLLOW = (f"{expiry.RECALCULATE} = 1", f"{expiry.DROP_PARTS} = ")
"""Settings of a table: it has the first one if rows are kept, and the second one until its parts follow."""


def unapplied(clickhouse: Reads, selector: Selector, days: Mapping[str, int]) -> list[str] | None:
    """Returns the tables whose TTL does not keep the selected rows yet; None if the reader sees none of them,
    as with several shards. Raises ClickHouseError, OSError."""
    definitions = {str(row["name"]): str(row["definition"]) for row in clickhouse.rows(DEFINITIONS)}
    columns = holds.stored_columns(clickhouse)
    conditions = {
        table: condition
        for table, its in expiry.expiries(days).items()
        if table in definitions and (condition := selector.condition(table, columns.get(table, ()), its.time))
    }
    if not conditions:
        return None
    alone, with_others = (
        _formatted(clickhouse, [*conditions.values()], after) for after in (ALONE, WITH_OTHERS)
    )
    return [
        table
        for table, only, one in zip(conditions, alone, with_others, strict=True)
        if not _keeps(definitions[table], only, one)
    ]


def _formatted(clickhouse: Reads, conditions: Sequence[str], after: str) -> list[str]:
    """Returns conditions as ClickHouse writes them in the definition of a table."""
    texts = ", ".join(f"formatQuerySingleLine({quoted(f'{BEFORE}{each}{after}')})" for each in conditions)
    found: Row = clickhouse.rows(f"SELECT [{texts}] AS texts")[0]
    return [str(text).removeprefix(BEFORE).removesuffix(after) for text in found["texts"]]


def _keeps(definition: str, only: str, one: str) -> bool:
    """Whether the TTL of a table has a condition; `only` is its text alone, `one` that beside others."""
    recalculates, drops_parts = PARTS_FOLLOW
    _, _, ttl = definition.partition(" TTL if(")
    conditions, far, settings = ttl.partition(f", {expiry.FAR}, ")
    has_it = conditions == only or f" OR {one} OR " in f" OR {conditions} OR "
    return bool(far) and has_it and recalculates in settings and drops_parts not in settings
