"""A real ClickHouse, the component of the one-machine stack. Modules share one if they keep its settings."""

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache

import jinja2
import kept_rows
import pytest
import replica_servers
import yaml
from clickhouse_servers import Quiet, Server, Shards, running
from kept_rows import KeptRows
from memory_directory import in_memory
from replica_servers import Replicas

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.query_files import QUERIES, query_text
from tailrace.config.home import Home
from tailrace.dashboards import assets as dashboard_assets
from tailrace.erasure import vault
from tailrace.snapshots.rows import rows_of


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running ClickHouse; two shards with SQL_TEST_SHARDS=2."""
    with in_memory(tmp_path_factory.mktemp("home")) as home:
        yield from _with_copied_schema(_kind()(home))


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running ClickHouse for a module that stops it, or gives it settings or a disk of its own."""
    with in_memory(tmp_path_factory.mktemp("home")) as home:
        yield from _with_copied_schema(_kind()(home))


def _with_copied_schema(server: Server) -> Iterator[Server]:
    server.copy_schema()
    with running(server):
        yield server


def _kind() -> type[Server]:
    return Shards if os.environ.get("SQL_TEST_SHARDS") == "2" else Server


@pytest.fixture(scope="module")
def server(shared_server: Server) -> Server:
    """The server of the fixtures below. A module that needs one of its own replaces this by `own_server`."""
    return shared_server


@pytest.fixture(scope="module")
def two_shards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shards]:
    """A running ClickHouse with two shards and the complete schema, on which developers see db1 only."""
    with in_memory(tmp_path_factory.mktemp("shards")) as home:
        shards = Shards(home)
        shards.settings.access.write_text(yaml.safe_dump({"developer": {"instances": ["db1"]}}))
        yield from _with_copied_schema(shards)


@pytest.fixture(scope="session")
def three_replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    """Three replicas of one shard with the complete schema."""
    with replica_servers.running(Replicas(tmp_path_factory.mktemp("replicas")), Quiet()) as cluster:
        cluster.migrate()
        yield cluster


@pytest.fixture(scope="session")
def vault_keys(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home directory with new keys of pseudonyms and vault, to be copied: a pair of keys takes 0.4
    CPU-seconds."""
    home = Home(tmp_path_factory.mktemp("keys"))
    vault.make_keys(home)
    return home


@pytest.fixture
def empty(server: Server) -> ClickHouse:
    """The administrator's connection to a server without the database."""
    server.forget()
    return server.user("admin")


@pytest.fixture(scope="module")
def _migrated(server: Server) -> ClickHouse:
    return _with_schema(server)


@pytest.fixture(scope="session")
def _kept() -> KeptRows:
    return KeptRows()


@pytest.fixture
def admin(server: Server, request: pytest.FixtureRequest, _kept: KeptRows) -> ClickHouse:
    """The administrator's connection to a server with the complete schema.

    It has the rows of FIRST_ROWS of the module, see kept_rows.py; without them no rows.
    """
    first_rows = kept_rows.chosen(getattr(request.module, "FIRST_ROWS", {}), request.fixturenames)
    if first_rows is None or not _kept.are_in(server, first_rows):
        _with_schema(server)
        if first_rows:
            _kept.put(server, first_rows)
    return server.user("admin")


def _with_schema(server: Server) -> ClickHouse:
    if server.is_migrated:
        server.empty_tables()
    else:
        server.forget()
        server.migrate()
    return server.user("admin")


OVER_TIME = [{"columnType": "BASE_AXIS", "sqlExpression": "time"}]
"""The columns of a chart over time, as passed to Superset's Jinja."""


class _Shown:
    """The result of Superset's get_time_filter() for a query."""

    time_range = "Last day"


@pytest.fixture
def rendered() -> Callable[..., str]:
    """Renders a query of sql/queries like Superset's Jinja, with filters by column; times in ISO 8601.

    `over_time` renders it for a chart whose x axis is time, `drawn` for one that groups by these columns.
    """

    def render(
        name: str,
        since: str | None,
        until: str | None,
        over_time: bool = False,
        drawn: tuple[str, ...] = (),
        **filters: list[str],
    ) -> str:
        return _template(query_text(QUERIES / f"{name}.sql")).render(
            from_dttm=since,
            to_dttm=until,
            filter_values=lambda column, **_: filters.get(column, []),
            get_time_filter=_Shown,
            columns=OVER_TIME if over_time else list(drawn),
            filter=[{"col": column, "op": "IN", "val": values} for column, values in filters.items()],
            table_columns=list(filters),
        )

    return render


@pytest.fixture
def metric() -> Callable[..., str]:
    """Renders the expression of a dataset's metric like Superset's Jinja; `over_time` as for queries.

    `time_range` are two times in ISO 8601, as for queries.
    """

    def render(
        dataset: str,
        name: str,
        over_time: bool = False,
        time_range: tuple[str | None, str | None] = (None, None),
        **filters: list[str],
    ) -> str:
        (metrics,) = (
            content["metrics"]
            for file, content in _compiled().items()
            if file.startswith("datasets/") and file.endswith(f"/{dataset}.yaml")
        )
        (expression,) = (each["expression"] for each in metrics if each["metric_name"] == name)
        return _template(expression).render(
            from_dttm=time_range[0],
            to_dttm=time_range[1],
            get_time_filter=_Shown,
            columns=OVER_TIME if over_time else [],
            filter_values=lambda column, **_: filters.get(column, []),
            filter=[{"col": column, "op": "IN", "val": values} for column, values in filters.items()],
            table_columns=list(filters),
        )

    return render


@cache
def _compiled() -> dict[str, dict]:
    return dashboard_assets.compile_assets()


@cache
def _template(text: str) -> jinja2.Template:
    """Returns the compiled text of a query, of which several tests ask: to compile one takes up to 0.1
    CPU-seconds."""
    environment = jinja2.Environment()
    environment.filters["where_in"] = lambda values: f"({', '.join(map(_quoted, values))})"
    return environment.from_string(text)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@pytest.fixture
def user(server: Server) -> Callable[[str], ClickHouse]:
    return server.user


@pytest.fixture
def stored(admin, user):
    """Inserts rows like the job."""

    def insert(table: str, *rows: dict) -> None:
        user("writer").insert(f"tailrace.{table}", list(rows))

    return insert


@pytest.fixture
def settings(user) -> Callable[..., None]:
    """Inserts a snapshot of the settings of db1 at a time: settings(when, long_query_time="1")."""

    def note(when: datetime, **values: str) -> None:
        at = when.timestamp()
        facts = [{"key": name, "since": at, "attributes": {"value": value}} for name, value in values.items()]
        record = {
            "v": 1,
            "at": at,
            "cluster": "shop",
            "instance": "db1",
            "product": "mysql",
            "version": "8.4",
        }
        record |= {"kind": "settings", "reason": "hourly", "status": "ok", "error": ""}
        record |= {"truncated": False, "part": 1, "parts": 1, "facts": facts, "changes": []}
        for table, row in rows_of(record):
            user("facts").insert(f"tailrace.{table}", [row])

    return note
