"""A real ClickHouse for each test module: the embedded stack's own part, in a home directory of its own."""

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import jinja2
import pytest

from tailrace import accounts, dashboards, migrations
from tailrace.clickhouse import ClickHouse
from tailrace.facts.rows import rows_of
from tailrace.home import Home
from tailrace.parts.clickhouse import ClickHouse as ClickHousePart
from tailrace.settings import Settings

START_SECONDS = 30


class Server:
    """One running ClickHouse."""

    def __init__(self, home: Path) -> None:
        self.home = Home(home)
        http, native = _free_ports(2)
        environment = {
            "TAILRACE_HOME": str(home),
            "TAILRACE_PORT_CLICKHOUSE": str(http),
            "TAILRACE_PORT_CLICKHOUSE_NATIVE": str(native),
        }
        if cache := os.environ.get("TAILRACE_CACHE"):
            environment["TAILRACE_CACHE"] = cache
        self.settings = Settings.from_environment(environment)
        self.part = ClickHousePart(self.settings, self.home)
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        self.part.prepare()
        log = self.home.log("clickhouse").open("ab")
        self._process = subprocess.Popen(self.part.command(), stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not self._is_healthy():
            assert self._process.poll() is None, self.home.log("clickhouse").read_text()
            assert time.monotonic() < deadline, "ClickHouse is not up"
            time.sleep(0.05)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(START_SECONDS)

    def user(self, name: str) -> ClickHouse:
        return accounts.connect(self.settings, self.home, name)

    def _is_healthy(self) -> bool:
        with contextlib.suppress(OSError):
            return self.part.health().ok
        return False


class _Quiet:
    def say(self, doing: str) -> None:
        print(doing)

    def run(self, command, cwd=None, environment=None) -> None:
        subprocess.run(command, cwd=cwd, env={**os.environ, **(environment or {})}, check=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running ClickHouse without any schema."""
    server = Server(tmp_path_factory.mktemp("home"))
    if not server.part.installed():
        server.part.install(_Quiet())
    server.start()
    yield server
    server.stop()


@pytest.fixture
def empty(server: Server) -> ClickHouse:
    """Admin's access to a server without the database."""
    admin = server.user("admin")
    admin.execute("DROP DATABASE IF EXISTS tailrace SYNC")
    return admin


@pytest.fixture(scope="module")
def _migrated(server: Server) -> ClickHouse:
    admin = server.user("admin")
    admin.execute("DROP DATABASE IF EXISTS tailrace SYNC")
    migrations.apply(admin)
    return admin


@pytest.fixture
def admin(_migrated: ClickHouse) -> ClickHouse:
    """Admin's access to a server with the whole schema and no rows."""
    tables = _migrated.rows(
        "SELECT name FROM system.tables WHERE database = 'tailrace' AND engine LIKE '%MergeTree' "
        "AND name != 'schema_migrations' AND total_rows > 0"
    )
    for table in tables:
        _migrated.execute(f"TRUNCATE TABLE tailrace.{table['name']} SYNC")
    return _migrated


OVER_TIME = [{"columnType": "BASE_AXIS", "sqlExpression": "time"}]
"""What Superset's Jinja is told of the columns that a chart over time asks for."""


class _Shown:
    """What Superset's get_time_filter() tells a query."""

    time_range = "Last day"


@pytest.fixture
def rendered() -> Callable[..., str]:
    """A query of sql/queries as Superset's Jinja renders it, with filters by column; times in ISO 8601.

    `over_time` renders it for a chart whose x axis is time.
    """

    def render(
        name: str, since: str | None, until: str | None, over_time: bool = False, **filters: list[str]
    ) -> str:
        template = _jinja().from_string(dashboards.query_text(dashboards.QUERIES / f"{name}.sql"))
        return template.render(
            from_dttm=since,
            to_dttm=until,
            filter_values=lambda column, **_: filters.get(column, []),
            get_time_filter=_Shown,
            columns=OVER_TIME if over_time else [],
            filter=[{"col": column, "op": "IN", "val": values} for column, values in filters.items()],
            table_columns=list(filters),
        )

    return render


@pytest.fixture
def metric() -> Callable[..., str]:
    """The expression of a metric of a dataset, as Superset's Jinja renders it; `over_time` as for queries."""

    def render(dataset: str, name: str, over_time: bool = False) -> str:
        compiled = dashboards.compile_assets()[f"datasets/tailrace/{dataset}.yaml"]["metrics"]
        (expression,) = (each["expression"] for each in compiled if each["metric_name"] == name)
        return _jinja().from_string(expression).render(columns=OVER_TIME if over_time else [])

    return render


def _jinja() -> jinja2.Environment:
    environment = jinja2.Environment()
    environment.filters["where_in"] = lambda values: f"({', '.join(map(_quoted, values))})"
    return environment


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@pytest.fixture
def user(server: Server) -> Callable[[str], ClickHouse]:
    return server.user


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]


@pytest.fixture
def settings(user) -> Callable[..., None]:
    """Notes that the server db1 was found with settings at a time: settings(when, long_query_time="1")."""

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
