"""ClickHouse with more than one shard: the placement of rows, and the tables that queries use.

On each shard the migrations create database `tailrace_shard`, with the tables and materialized views that one
server has in `tailrace`: a view stores its rows on the shard of the source row. Database `tailrace` is then
generated from it: a Distributed table over each table, and each plain view again, over those. So a statement
uses `tailrace.x` on one server and on many.

A row's shard is chosen by the server that it concerns (`instance`), or else by the sorting key. Rows that
replace or add up to one another have the same sorting key, so they are on one shard, where FINAL and merges
see all of them.
"""

import copy
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from graphlib import TopologicalSorter
from xml.etree import ElementTree

from tailrace.clickhouse.client import ClickHouse

DATABASE = "tailrace"
SHARD_DATABASE = "tailrace_shard"

CLOCK_SECONDS = 60
"""Maximum difference between the clocks of two servers."""
UNLIMITED_ROWS = 1_000_000_000
SETTINGS = {
    "distributed_foreground_insert": "1",  # an insert returns when the shards have stored the rows
    "distributed_product_mode": "global",  # joins and IN read from all shards
    "skip_unavailable_shards": "0",  # no partial results
}
"""Limits of all users' profiles."""
PARTS_OF_A_QUERY = 8
"""A shard counts each part of a statement as a query of the initial user."""
ENGINES_OWN_PROFILES = ("default", "engine")

_NAME = re.compile(r"\btailrace\b(?=\.|\s*$|\s+ON CLUSTER\b)")
_GRANT = re.compile(r"GRANT (SELECT|INSERT)(\([^)]*\))? ON tailrace\.(\w+)")
_CONSTRAINT = re.compile(r"\bCONSTRAINT (\w+) CHECK ")
_OF_ITS_MAKER = "create_table_query LIKE '%SQL SECURITY DEFINER%'"
_BY_ADMIN = "currentUser() = 'admin'"
_COLLAPSING = ("Replacing", "Summing", "Aggregating")


class ShardsError(RuntimeError):
    """The database was created for another number of shards; the message states what was found."""


def in_shard(statement: str) -> str:
    """Returns a statement about database tailrace for the database of a shard."""
    return _NAME.sub(SHARD_DATABASE, statement)


def sharding_key(engine: str, sorting_key: str, columns: Sequence[str]) -> str:
    """Returns the expression that selects the shard of a row.

    `sorting_key` is that of system.tables, `columns` all columns of the table. A table that only feeds a view
    has no sorting key: its first column chooses.
    """
    sorted_by = sorting_key.split(", ")
    collapses = engine.removeprefix("Replicated").startswith(_COLLAPSING)
    if "instance" in sorted_by or ("instance" in columns and not collapses):
        return "cityHash64(instance)"
    return f"cityHash64({sorting_key or columns[0]})"


def refuse_other_layout(clickhouse: ClickHouse, sharded: bool) -> None:
    """Raises ShardsError if database tailrace has one shard and should have more, or vice versa."""
    tables = clickhouse.rows(
        "SELECT countIf(database = {shard:String}) AS on_shards, countIf(database = {whole:String} "
        "AND engine LIKE '%MergeTree') AS on_one FROM system.tables",
        {"shard": SHARD_DATABASE, "whole": DATABASE},
    )[0]
    if sharded and tables["on_one"]:
        raise ShardsError(
            f"{DATABASE} contains tables of one shard: rows cannot be moved in place; recreate the database"
        )
    if not sharded and tables["on_shards"]:
        raise ShardsError(f"{SHARD_DATABASE} exists: this database has more than one shard; use --sharded")


def spread(clickhouse: ClickHouse, cluster: str, on_cluster: str, run: Callable[[str], None]) -> None:
    """Creates and alters database tailrace to match the tables of tailrace_shard, on the servers of `run`.

    `cluster` is the name in remote_servers, `on_cluster` a clause or empty. Matching objects stay.
    """
    run(f"CREATE DATABASE IF NOT EXISTS {DATABASE} {on_cluster}")
    _sign_rows(clickhouse, on_cluster, run)
    wanted = _distributed(clickhouse, cluster, on_cluster) | _views(clickhouse, on_cluster)
    found = _layer(clickhouse, DATABASE)
    for name, (definition, statement) in wanted.items():
        if found.get(name) != definition:
            run(statement)
    for name in found.keys() - wanted.keys():
        run(f"DROP TABLE {DATABASE}.{name} {on_cluster} SYNC")


def _sign_rows(clickhouse: ClickHouse, on_cluster: str, run: Callable[[str], None]) -> None:
    """Prevents users from choosing the time and account of a row. One server lacks a grant on those columns.

    A Distributed table fills them in and sends them to the shard, so the user needs a grant on all columns
    there: a constraint of the shard's table refuses wrong values. Admin may write anything on one server too.
    """
    filled = clickhouse.rows(
        "SELECT table, name, default_expression AS made, create_table_query AS text FROM system.columns "
        "INNER JOIN system.tables ON tables.database = columns.database AND tables.name = columns.table "
        "WHERE database = {shard:String} AND default_kind = 'DEFAULT' "
        "AND (made = 'currentUser()' OR startsWith(made, 'now64(')) AND engine LIKE '%MergeTree'",
        {"shard": SHARD_DATABASE},
    )
    for column in filled:
        constraint, name = f"{column['name']}_is_true", column["name"]
        if f"CONSTRAINT {constraint} " in column["text"]:
            continue
        true = f"{name} = currentUser()"
        if column["made"] != "currentUser()":
            true = f"abs(dateDiff('second', {name}, {column['made']})) <= {CLOCK_SECONDS}"
        table = f"{SHARD_DATABASE}.{column['table']}"
        run(
            f"ALTER TABLE {table} {on_cluster} "
            f"ADD CONSTRAINT IF NOT EXISTS {constraint} CHECK {true} OR {_BY_ADMIN}"
        )


def _distributed(clickhouse: ClickHouse, cluster: str, on_cluster: str) -> dict[str, tuple]:
    """Returns by name the definition that _layer finds after the creation, and the statement that creates it.

    A table has the constraints of the shards' tables: a block is refused before any shard has a part of it.

    Views with SQL SECURITY DEFINER are included: their privileges exist on a shard only, because a shard runs
    its part of a statement with the privileges of the initial user. Such a view must be correct per shard.
    """
    tables = clickhouse.rows(
        "SELECT name, engine, sorting_key, create_table_query AS text FROM system.tables "
        "WHERE database = {shard:String} "
        f"AND (engine LIKE '%MergeTree' OR engine = 'Null' OR engine = 'View' AND {_OF_ITS_MAKER}) "
        "ORDER BY name",
        {"shard": SHARD_DATABASE},
    )
    columns = _columns(clickhouse, SHARD_DATABASE)
    made = {}
    for table in tables:
        name = table["name"]
        words = [f"'{cluster}'", f"'{SHARD_DATABASE}'", f"'{name}'"]
        if table["engine"] != "View":
            names = [column[0] for column in columns[name]]
            words.append(sharding_key(table["engine"], table["sorting_key"], names))
        engine = f"Distributed({', '.join(words)})"
        made[name] = (
            (engine, columns[name], _CONSTRAINT.findall(table["text"])),
            f"CREATE OR REPLACE TABLE {DATABASE}.{name} {on_cluster} "
            f"AS {SHARD_DATABASE}.{name} ENGINE = {engine}",
        )
    return made


def _views(clickhouse: ClickHouse, on_cluster: str) -> dict[str, tuple]:
    """Like _distributed; a view follows those that it reads."""
    rows = clickhouse.rows(
        "SELECT name, create_table_query AS text FROM system.tables "
        f"WHERE database = {{shard:String}} AND engine = 'View' AND NOT ({_OF_ITS_MAKER})",
        {"shard": SHARD_DATABASE},
    )
    texts = {row["name"]: row["text"] for row in rows}
    reads = {
        name: [other for other in texts if other != name and re.search(rf"{SHARD_DATABASE}\.{other}\b", text)]
        for name, text in texts.items()
    }
    made = {}
    for name in TopologicalSorter(reads).static_order():
        definition = texts[name].replace(f"{SHARD_DATABASE}.", f"{DATABASE}.")
        head = f"CREATE VIEW {DATABASE}.{name}"
        statement = definition.replace(head, f"CREATE OR REPLACE VIEW {DATABASE}.{name} {on_cluster}", 1)
        made[name] = (definition, statement)
    return made


def _layer(clickhouse: ClickHouse, database: str) -> dict[str, object]:
    """Returns the current objects of a database: a table's engine, columns and constraints, a view's text."""
    columns = _columns(clickhouse, database)
    tables = clickhouse.rows(
        "SELECT name, engine, engine_full, create_table_query AS text FROM system.tables "
        "WHERE database = {database:String}",
        {"database": database},
    )
    return {
        table["name"]: table["text"]
        if table["engine"] == "View"
        else (table["engine_full"], columns.get(table["name"]), _CONSTRAINT.findall(table["text"]))
        for table in tables
    }


def _columns(clickhouse: ClickHouse, database: str) -> Mapping[str, list[tuple]]:
    """Returns name, type, kind and text of the default of each column, in order, by table."""
    rows = clickhouse.rows(
        "SELECT table, name, type, default_kind, default_expression FROM system.columns "
        "WHERE database = {database:String} ORDER BY table, position",
        {"database": database},
    )
    tables: dict[str, list[tuple]] = {}
    for row in rows:
        column = (row["name"], row["type"], row["default_kind"], row["default_expression"])
        tables.setdefault(row["table"], []).append(column)
    return tables


def users_of_shards(users: str) -> str:
    """Returns users.xml for more than one shard: grants and row policies also apply to the shards' tables.

    A shard runs its part of a statement with the privileges of the initial user. An insert sends it all
    columns. Roles are replaced by grants: with 26.7, a subquery that a shard runs has none of its user's
    roles.
    """
    root = ElementTree.fromstring(users)
    roles = {role.tag: [query.text for query in role.iter("query")] for role in root.find("roles")}
    for user in root.find("users"):
        for grants in user.findall("grants"):
            _grant_on_shards(grants, roles)
        for policies in user.findall("databases"):
            of_shards = copy.deepcopy(policies.find(DATABASE))
            of_shards.tag = SHARD_DATABASE
            policies.append(of_shards)
    for profile in root.find("profiles"):
        if profile.tag not in ENGINES_OWN_PROFILES:
            for name, value in SETTINGS.items():
                ElementTree.SubElement(profile, name).text = value
            _constrain(profile)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _grant_on_shards(grants: ElementTree.Element, roles: Mapping[str, list[str]]) -> None:
    for query in grants.findall("query"):
        granted = query.text.removeprefix("GRANT ").split(", ")
        if roles.keys() >= set(granted):
            grants.remove(query)
            for statement in itertools.chain.from_iterable(roles[role] for role in granted):
                ElementTree.SubElement(grants, "query").text = statement
    for grant in filter(None, [_GRANT.fullmatch(query.text) for query in grants.findall("query")]):
        right = "INSERT" if grant[1] == "INSERT" else f"SELECT{grant[2] or ''}"
        ElementTree.SubElement(grants, "query").text = f"GRANT {right} ON {SHARD_DATABASE}.{grant[3]}"


def _constrain(profile: ElementTree.Element) -> None:
    """Makes inserts wait for the shards, and allows a shard to return more rows than the complete result.

    ClickHouse sends the limit of a scalar subquery, one row, to the shards, each of which may have several
    rows that are then aggregated. A shard raises the received limit to the minimum of the constraint.
    """
    constraints = profile.find("constraints")
    if constraints is None:
        constraints = ElementTree.SubElement(profile, "constraints")
    queries = profile.find("max_concurrent_queries_for_user")
    if queries is not None:
        queries.text = str(int(queries.text) * PARTS_OF_A_QUERY)
    least = {
        "distributed_foreground_insert": "1",
        "max_result_rows": profile.findtext("max_result_rows", str(UNLIMITED_ROWS)),
    }
    for name, value in least.items():
        constraint = constraints.find(name)
        if constraint is None:
            constraint = ElementTree.SubElement(constraints, name)
            ElementTree.SubElement(constraint, "min")
        constraint.find("min").text = value
