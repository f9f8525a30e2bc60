"""`--stack`: runs the stack of each version over the demo's logs, and writes the rows of all tables.

Both stacks run one after the other, with the same ports, the same home directory and the same logs, whose
times the demo of this version has moved once.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import Producer

from e2e.compare.accepted import COLUMNS
from e2e.compare.versions import Version
from e2e.release_state import COLLECTORS, COMPONENTS, Release
from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.config.home import Home
from tailrace.demo import feed
from tailrace.sources import sources_file

FIRST_PORT = 27760
ONE_SUBTASK = {"TAILRACE_PARALLELISM": "1"}
"""Several parsers' subtasks drift apart on a busy machine. Plan changes depend on the order of executions."""
SECONDS_FOR_THE_LEDGER = "300"
FLUSH_SECONDS = 30
DIGITS = 12
TABLES = (
    "SELECT name FROM system.tables WHERE database = 'tailrace' AND engine LIKE '%MergeTree' ORDER BY name"
)
TYPES = (
    "SELECT name, type FROM system.columns WHERE database = 'tailrace' AND table = {table:String}"
    " AND default_kind != 'ALIAS' ORDER BY position"
)
"""Without aliases: the new name of a column shows the values that are compared under its old name."""


def rows_of_both(
    versions: tuple[Version, Version], work: Path, names: Mapping[str, str], first_port: int = FIRST_PORT
) -> None:
    """Writes <work>/<version>/tables/NAME.jsonl for both. `names` are new names of the base's tables."""
    demo = Home(work / "demo")
    fed = feed.feed(demo)
    for version, renamed in zip(versions, (names, {}), strict=True):
        home = work / "home"
        shutil.rmtree(home, ignore_errors=True)
        _prepare(demo, home)
        stack = Release(version.repository, home, first_port, f"{COMPONENTS},facts", ONE_SUBTASK)
        try:
            _fill(stack, fed.spans)
            _write(stack.clickhouse(), work / version.name / "tables", renamed)
        finally:
            stack.run("down")


def _prepare(demo: Home, home: Path) -> None:
    """Lists the demo's logs, and puts its snapshots where capture would have written them."""
    home.mkdir(parents=True)
    shutil.copytree(demo.root / "data", home / "data")
    sources_file.make_empty(home / "sources.yaml")
    sources_file.add(home / "sources.yaml", [sample.watched(demo) for sample in feed.FILES])


def _fill(stack: Release, spans: list[bytes]) -> None:
    """Starts the stack, and waits until both jobs have read everything."""
    stack.run("up")
    producer = Producer({**stack.kafka(), "acks": "all"})
    for span in spans:
        producer.produce(feed.SPANS_TOPIC, span)
    if left := producer.flush(FLUSH_SECONDS):
        raise TimeoutError(f"Kafka did not confirm {left} of {len(spans)} spans in {FLUSH_SECONDS} s")
    stack.run("books", "--wait", SECONDS_FOR_THE_LEDGER)
    stack.run("down", *COLLECTORS)
    stack.await_idle()


def _write(clickhouse: ClickHouse, directory: Path, renamed: Mapping[str, str]) -> None:
    directory.mkdir(parents=True)
    listed = yaml.safe_load(COLUMNS.read_text())
    summed = {each["table"]: each for each in listed["summed"]}
    left_out = {each["table"] for each in listed["not_compared"]}
    for table in (row["name"] for row in clickhouse.rows(TABLES)):
        name = renamed.get(table, table)
        if name in left_out:
            continue
        columns = clickhouse.rows(TYPES, {"table": table})
        select = _sums(columns, summed[name]) if name in summed else _all(columns)
        rows = clickhouse.rows(select.format(table=f"tailrace.{table}"), final=1)
        (directory / f"{name}.jsonl").write_text("".join(json.dumps(_rounded(row)) + "\n" for row in rows))


def _rounded(row: Row) -> Row:
    """Rounds numbers: a sum of floating-point numbers depends on the order of its rows."""
    return {
        name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
        for name, value in row.items()
    }


def _sums(columns: list[Row], summed: Mapping[str, Any]) -> str:
    """Returns a query for the sums of a table. The base may lack a column."""
    names = [column["name"] for column in columns]
    by = [f"`{name}`" for name in names if name in summed["by"]]
    sums = [f"sum(`{name}`) AS `sum_of_{name}`" for name in names if name in summed["sums"]]
    return f"SELECT {', '.join(by + sums)} FROM {{table}} WHERE {summed['where']} GROUP BY {', '.join(by)}"


def _all(columns: list[Row]) -> str:
    """Returns a query for all rows: the result of an aggregation in place of its binary state."""
    expressions = [
        f"finalizeAggregation(`{column['name']}`) AS `{column['name']}`"
        if column["type"].startswith("AggregateFunction")
        else f"`{column['name']}`"
        for column in columns
    ]
    return f"SELECT {', '.join(expressions)} FROM {{table}}"
