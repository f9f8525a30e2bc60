"""A real ClickHouse for each test module: the embedded stack's own part, in a home directory of its own."""

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

import jinja2
import pytest

from tailrace import accounts, dashboards, migrations, shards
from tailrace.clickhouse import ClickHouse
from tailrace.facts.rows import rows_of
from tailrace.home import Home
from tailrace.parts.clickhouse import ClickHouse as ClickHousePart
from tailrace.settings import Settings

START_SECONDS = 30
DATABASES = (shards.DATABASE, shards.SHARD_DATABASE)


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
        if self._process:
            self._process.terminate()
            self._process.wait(START_SECONDS)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def user(self, name: str) -> ClickHouse:
        return accounts.connect(self.settings, self.home, name)

    def _is_healthy(self) -> bool:
        with contextlib.suppress(OSError):
            return self.part.health().ok
        return False

    def each(self, name: str) -> list[ClickHouse]:
        """A user's access to every server."""
        return [self.user(name)]

    def migrate(self) -> None:
        migrations.apply(self.user("admin"))

    def forget(self) -> None:
        """Drops what the migrations made."""
        for admin in self.each("admin"):
            for database in DATABASES:
                admin.execute(f"DROP DATABASE IF EXISTS {database} SYNC")

    def empty_tables(self) -> None:
        for admin in self.each("admin"):
            tables = admin.rows(
                "SELECT database, name FROM system.tables WHERE database IN {databases:Array(String)} "
                "AND engine LIKE '%MergeTree' AND name != 'schema_migrations' AND total_rows > 0",
                {"databases": list(DATABASES)},
            )
            for table in tables:
                admin.execute(f"TRUNCATE TABLE {table['database']}.{table['name']} SYNC")


class Shards(Server):
    """Two running servers, each a shard, without replicas and Keeper; asked through the first."""

    CLUSTER = "tailrace"

    def __init__(self, home: Path) -> None:
        super().__init__(home / "1")
        self.second = Server(home / "2")
        self.second.home.root.mkdir(exist_ok=True)
        (self.second.home.root / "secrets").symlink_to(self.home.secrets)
        self.second.settings.access.symlink_to(self.settings.access)
        for server in (self, self.second):
            server.part.prepare = partial(self._prepare, server, server.part.prepare)

    def start(self) -> None:
        super().start()
        self.second.start()

    def stop(self) -> None:
        super().stop()
        self.second.stop()

    def each(self, name: str) -> list[ClickHouse]:
        return [self.user(name), self.second.user(name)]

    def migrate(self) -> None:
        first, second = self.each("admin")
        migrations.apply(first, self.CLUSTER, sharded=True, others=[second])

    def _prepare(self, server: Server, prepare: Callable[[], None]) -> None:
        """The part's configuration, with what makes it a shard of two."""
        prepare()
        data = server.home.data("clickhouse")
        users, config = data / "users.xml", data / "config.xml"
        users.write_text(shards.users_of_shards(users.read_text()))
        ports = [each.settings.port_clickhouse_native for each in (self, self.second)]
        servers = "".join(
            f"<shard><replica><host>127.0.0.1</host><port>{port}</port></replica></shard>" for port in ports
        )
        cluster = f"<{self.CLUSTER}><secret>{self.home.secret('shards')}</secret>{servers}</{self.CLUSTER}>"
        own = f"<tcp_port>{server.settings.port_clickhouse_native}</tcp_port>"
        added = f"{own}<remote_servers>{cluster}</remote_servers></clickhouse>"
        config.write_text(config.read_text().replace("</clickhouse>", added))


class _Quiet:
    def say(self, doing: str) -> None:
        print(doing)

    def run(self, command, cwd=None, environment=None) -> None:
        subprocess.run(command, cwd=cwd, env={**os.environ, **(environment or {})}, check=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running ClickHouse without any schema; of two shards where SQL_TEST_SHARDS=2 asks for it."""
    kind = Shards if os.environ.get("SQL_TEST_SHARDS") == "2" else Server
    with running(kind(tmp_path_factory.mktemp("home"))) as server:
        yield server


@pytest.fixture(scope="module")
def two_shards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shards]:
    """A running ClickHouse of two shards with the whole schema."""
    with running(Shards(tmp_path_factory.mktemp("shards"))) as server:
        server.migrate()
        yield server


@contextlib.contextmanager
def running(server: Server) -> Iterator[Server]:
    if not server.part.installed():
        server.part.install(_Quiet())
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def empty(server: Server) -> ClickHouse:
    """Admin's access to a server without the database."""
    server.forget()
    return server.user("admin")


@pytest.fixture(scope="module")
def _migrated(server: Server) -> ClickHouse:
    server.forget()
    server.migrate()
    return server.user("admin")


@pytest.fixture
def admin(server: Server, _migrated: ClickHouse) -> ClickHouse:
    """Admin's access to a server with the whole schema and no rows."""
    server.empty_tables()
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
