"""Random statements, and the tables that they use: the same for each seed."""

import random

NUMBERS = ("id", "k", "w", "j")
TABLES = ("customer", "ordered", "item", '`odd "name`', "parted")
SMALL = "small"
GROUPED = "grouped"
FILTERED = "filtered"
ROWS = (0, 1, 5, 300)
CONSTANTS = ("1", "3", "7", "'x\"y'", "NULL", "0x31", "1 + 1")
JOINS = ("JOIN", "LEFT JOIN", "STRAIGHT_JOIN")
DERIVED = ("dt", "vt", "ct")
"""The prefix of aliases of derived tables and views, which EXPLAIN's rows name differently."""


class RandomStatements:
    """Generates joins, subqueries at all places, derived tables, views, set operations, windows, writes."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._aliases = 0

    def schema(self) -> list[str]:
        """Returns statements that create the tables, with few rows or none."""
        made = []
        for table in TABLES:
            parts = " PARTITION BY HASH (id) PARTITIONS 4" if table == "parted" else ""
            made.append(
                f"CREATE TABLE {table} (id INT PRIMARY KEY, k INT, v VARCHAR(40), w INT, j INT,"
                f" KEY kk (k), KEY vw (v, w), KEY jk (j, k)) ENGINE = InnoDB{parts}"
            )
            for row in range(self._random.choice(ROWS)):
                numbers = (row, self._below(20), f"'v{self._below(50)}'", self._below(100), self._below(30))
                made.append(f"INSERT INTO {table} VALUES ({', '.join(map(str, numbers))})")
        return [
            *made,
            f"CREATE TABLE {SMALL} (id INT, k INT, KEY (k)) ENGINE = MEMORY",
            f"INSERT INTO {SMALL} VALUES (1, 1), (2, 2)",
            f"CREATE VIEW {GROUPED} AS SELECT k, count(*) AS n FROM customer GROUP BY k",
            f"CREATE VIEW {FILTERED} AS SELECT * FROM ordered WHERE k > 3",
        ]

    def _below(self, end: int) -> int:
        return self._random.randrange(end)

    def _any(self, *choices: str) -> str:
        return self._random.choice(choices)

    def statement(self) -> str:
        """Returns a statement that most servers accept."""
        table = self._any(*TABLES)
        kind = self._below(20)
        if kind == 0:
            return f"UPDATE {table} SET w = w + 1 WHERE k = {self._below(9)}"
        if kind == 1:
            return f"DELETE FROM {table} WHERE id IN (SELECT id FROM {SMALL})"
        if kind == 2:
            return f"INSERT INTO {SMALL} SELECT id, k FROM {table} WHERE j = 3"
        if kind == 3:
            return f"SELECT ct1.k FROM ({self._select(1)}) ct1 JOIN ({self._select(0)}) ct2 ON ct1.k = ct2.k"
        return self._select(2)

    def _alias(self, start: str) -> str:
        self._aliases += 1
        return f"{start}{self._aliases}"

    def _source(self, depth: int) -> tuple[str, str, tuple[str, ...]]:
        """Returns a table, its alias, and its numeric columns."""
        kind = self._below(10) if depth else 9
        if kind == 0:
            return f"({self._select(depth - 1)})", self._alias("dt"), ("k",)
        if kind == 1:
            return GROUPED, self._alias("vt"), ("k", "n")
        if kind == 2:
            return FILTERED, self._alias("vt"), NUMBERS
        if kind == 3:
            return SMALL, self._alias("t"), ("id", "k")
        return self._any(*TABLES), self._alias("t"), NUMBERS

    def _select(self, depth: int) -> str:
        sources = [self._source(depth) for _ in range(self._random.choice((1, 1, 2, 2, 3, 4)))]
        joined = f"{sources[0][0]} {sources[0][1]}"
        for place, (table, alias, _columns) in enumerate(sources[1:], start=1):
            condition = f"{alias}.k = {self._column(sources[:place])}"
            joined += f" {self._any(*JOINS)} {table} {alias} ON {condition}"
        wheres = [self._condition(sources, depth) for _ in range(self._below(3))]
        where = f" WHERE {' AND '.join(wheres)}" if wheres else ""
        select = self._shaped(f"{sources[0][1]}.k", f"FROM {joined}{where}")
        if depth and self._below(9) == 0:
            return f"({select}) {self._any('UNION', 'UNION ALL')} (SELECT k FROM {self._any(*TABLES)})"
        return select

    def _shaped(self, column: str, rest: str) -> str:
        return self._any(
            f"SELECT {column} AS k {rest}",
            f"SELECT {column} AS k {rest}",
            f"SELECT DISTINCT {column} AS k {rest}",
            f"SELECT {column} AS k, count(*) AS n {rest} GROUP BY {column}",
            f"SELECT {column} AS k, count(*) AS n {rest} GROUP BY {column} WITH ROLLUP HAVING n > 0",
            f"SELECT {column} AS k {rest} ORDER BY {column} DESC LIMIT 5",
            f"SELECT {column} AS k, row_number() OVER (PARTITION BY {column} ORDER BY {column}) AS n {rest}",
        )

    def _column(self, sources: list[tuple[str, str, tuple[str, ...]]]) -> str:
        _table, alias, columns = self._random.choice(sources)
        return f"{alias}.{self._any(*columns)}"

    def _condition(self, sources: list[tuple[str, str, tuple[str, ...]]], depth: int) -> str:
        column = self._column(sources)
        simple = [
            f"{column} = {self._any(*CONSTANTS)}",
            f"{column} BETWEEN 2 AND 9",
            f"{column} IN (1, 2, 5)",
            f"({column} = 3 OR {self._column(sources)} = 5)",
            f"{column} IS NOT NULL",
            f"{column} = {self._column(sources)}",
        ]
        table, alias = self._any(*TABLES), self._alias("s")
        nested = [
            f"{column} IN (SELECT {alias}.k FROM {table} {alias} WHERE {alias}.w > 3)",
            f"{column} NOT IN (SELECT {alias}.j FROM {table} {alias} WHERE {alias}.id < 50)",
            f"EXISTS (SELECT 1 FROM {table} {alias} WHERE {alias}.k = {column})",
            f"{column} > (SELECT max({alias}.w) FROM {table} {alias})",
        ]
        return self._any(*simple, *(nested if depth else ()))
