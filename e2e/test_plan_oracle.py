"""`tailrace plan` reads from EXPLAIN FORMAT=JSON the same as the rows of EXPLAIN contain, for random
statements on real servers: each table, its access type, its index.

Servers omit in FORMAT=JSON some details of the rows, such as a select that proved to be empty. Tables that a
document lacks are not compared, but counted.
"""

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pymysql
import pytest

from e2e import mysql
from e2e.attack_day import mariadb
from e2e.random_statements import DERIVED, RandomStatements
from tailrace.config.resources import REPOSITORY

FIRST_PORT = 22560
SEED = int(os.environ.get("PLAN_SEED", "1"))
STATEMENTS = int(os.environ.get("PLAN_STATEMENTS", "300"))
UNNAMED = 0.1
"""Maximum number of statements with a table that the document lacks."""

MERGED = re.compile(r"(?:sort_union|union|intersect)\(|\)")
"""`union(a,intersect(b,c))` in a document is `a,b,c` in a row."""


@dataclass(frozen=True)
class Explained:
    """One statement, with the server's EXPLAIN as rows and as a document."""

    statement: str
    rows: list[dict]
    document: str


def start_mariadb(directory: Path) -> mariadb.Server:
    if os.geteuid() != 0:
        pytest.skip("Debian's packages are unpacked by root")
    installation = mariadb.Installation.install(cache())
    server = mariadb.Server(installation, directory / "server", datetime.now(UTC), FIRST_PORT, "127.0.0.1")
    server.create()
    server.start()
    return server


def start_mysql(package: mysql.Package, directory: Path) -> mysql.Server:
    try:
        installation = mysql.Installation.install(package, cache())
    except (mysql.MySqlError, OSError) as error:
        pytest.skip(f"no MySQL {package.version} here: {error}")
    server = mysql.Server(installation, directory / "server", 1, FIRST_PORT)
    server.create()
    server.start()
    return server


def cache() -> Path:
    return Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")


@pytest.fixture(scope="module", params=["mariadb", "8.0.15", "5.7.22"])
def explained(request, tmp_path_factory) -> Iterator[list[Explained]]:
    directory = tmp_path_factory.mktemp("server")
    package = {"8.0.15": mysql.EIGHT, "5.7.22": mysql.FIVE}.get(request.param)
    server = start_mysql(package, directory) if package else start_mariadb(directory)
    try:
        with pymysql.connect(unix_socket=str(server.socket), user="root", autocommit=True) as session:
            yield list(explain(session))
    finally:
        server.stop()


def explain(session: pymysql.Connection) -> Iterator[Explained]:
    statements = RandomStatements(SEED)
    with session.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute("CREATE DATABASE `random shop`")
        cursor.execute("USE `random shop`")
        for statement in statements.schema():
            cursor.execute(statement)
        for _ in range(STATEMENTS):
            statement = statements.statement()
            # Some statements fail on some versions: 5.7 has no window functions.
            with suppress(pymysql.err.ProgrammingError, pymysql.err.OperationalError):
                yield explained_by("EXPLAIN", statement, cursor)
                if statement.startswith(("SELECT", "(")):
                    yield explained_by("ANALYZE", statement, cursor)


def explained_by(verb: str, statement: str, cursor: pymysql.cursors.DictCursor) -> Explained:
    cursor.execute(f"{verb} {statement}")
    rows = list(cursor.fetchall())
    cursor.execute(f"{verb} FORMAT=JSON {statement}")
    (row,) = cursor.fetchall()
    (document,) = row.values()
    return Explained(f"{verb} {statement}", rows, document.replace("\n", " "))


def models(explained: list[Explained], directory: Path) -> list[dict]:
    """Returns the output of `tailrace plan` for documents, one per line."""
    plans = directory / "plans.txt"
    plans.write_text("".join(f"{one.document}\n" for one in explained))
    done = subprocess.run(
        [REPOSITORY / "bin/tailrace", "plan", "--json", plans], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def uses_in_model(node: object) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, list):
        for part in node:
            yield from uses_in_model(part)
    elif isinstance(node, dict):
        if node.get("operation") == "table" and "table" in node:
            index = MERGED.sub("", node.get("index", ""))
            yield node.get("alias") or node["table"], node.get("access_type", "").lower(), index
        for part in node.values():
            yield from uses_in_model(part)


def uses_in_rows(rows: list[dict]) -> Iterator[tuple[str, str, str]]:
    for row in rows:
        if row["table"]:
            # MariaDB's filters by a second index: `ref|filter`, `kk|vw`.
            access, index = ((row[name] or "").partition("|")[0] for name in ("type", "key"))
            yield row["table"], access.lower(), index


def of_base_tables(rows: Iterator[tuple[str, str, str]]) -> Counter:
    return Counter(row for row in rows if not row[0].startswith(("<", *DERIVED)))


def times(table: str, document: str) -> int:
    """Returns the number of occurrences of a table in a document."""
    return document.count(f'"table_name": {json.dumps(table)}')


def times_in_rows(table: str, rows: Counter) -> int:
    return sum(count for row, count in rows.items() if row[0] == table)


def test_the_model_equals_the_rows_of_explain(explained, tmp_path):
    assert len(explained) > STATEMENTS / 2
    unnamed = 0
    plans = models(explained, tmp_path)
    assert len(plans) == len(explained)
    for one, plan in zip(explained, plans, strict=True):
        model, rows = of_base_tables(uses_in_model(plan["plan"])), of_base_tables(uses_in_rows(one.rows))
        missing = rows - model
        named = [row for row in missing if times(row[0], one.document) >= times_in_rows(row[0], rows)]
        assert not named, f"{one.statement}\n{one.document}\nthe model has no {named}"
        assert not model - rows, f"{one.statement}\n{one.document}\nno row has {model - rows}"
        unnamed += bool(missing)
    print(f"{len(explained)} documents, {unnamed} name less than the rows")
    assert unnamed <= len(explained) * UNNAMED
