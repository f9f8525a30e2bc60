"""One ClickHouse, or two as shards: the component of the one-machine stack in separate home directories."""

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from e2e.limits import LIMIT_SECONDS
from tailrace.clickhouse import shards
from tailrace.clickhouse.client import ClickHouse
from tailrace.config import content_hash
from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import Settings
from tailrace.migrations import runner as migration_runner
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.components.clickhouse import ClickHouse as ClickHousePart
from tailrace_local.supervisor import cache

LISTENING = "0A"
"""The state of a socket in /proc/net/tcp."""
FOR_FEW_ROWS = {
    "compile_expressions": 0,
    "compile_aggregate_expressions": 0,
    "compile_sort_description": 0,
    "compile_regular_expressions": 0,
    "max_threads": 1,
}
"""Settings for queries of few rows, which cost less than to compile or divide them."""
DATABASES = (shards.DATABASE, shards.SHARD_DATABASE)
SCHEMA_SOURCES = (
    *("sql/migrations/*", "sql/retention.yaml", "sql/users/*", "sql/tests/clickhouse_servers.py"),
    "embedded/tailrace/__init__.py",
    *("embedded/clickhouse/*.json", "embedded/tailrace/migrations/*.py", "embedded/tailrace/clickhouse/*.py"),
)
"""All that decides what a migrated store contains."""


class Server:
    """One running ClickHouse. Its native port is closed unless requested."""

    def __init__(self, home: Path, native: bool = False, ports: tuple[int, int] | None = None) -> None:
        """`ports` are the HTTP port and the native port; by default any that are free."""
        self.home = Home(home)
        http, native_port = ports or _free_ports(2)
        environment = {"TAILRACE_HOME": str(home), "TAILRACE_PORT_CLICKHOUSE": str(http)}
        if native:
            environment["TAILRACE_PORT_CLICKHOUSE_NATIVE"] = str(native_port)
        if cache := os.environ.get("TAILRACE_CACHE"):
            environment["TAILRACE_CACHE"] = cache
        self.settings = Settings.from_environment(environment)
        self.part = ClickHousePart(self.settings, self.home)
        self.is_migrated = False
        """Whether the complete schema is there, and nothing else."""
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        self.part.prepare()
        expect_few_rows(self.home)
        log = self.home.log("clickhouse").open("ab")
        self._process = subprocess.Popen(self.part.command(), stdout=log, stderr=log)
        deadline = time.monotonic() + LIMIT_SECONDS
        while not self._is_healthy():
            assert self._process.poll() is None, self.home.log("clickhouse").read_text()
            assert time.monotonic() < deadline, "ClickHouse is not up"
            time.sleep(0.05)

    @property
    def pid(self) -> int:
        """Returns the running process. Fails if it has ended."""
        assert self._process.poll() is None, f"ClickHouse has ended with {self._process.returncode}"
        return self._process.pid

    def listening_ports(self) -> set[int]:
        """Returns the TCP ports on which the process listens."""
        process = Path(f"/proc/{self.pid}")
        own = {os.readlink(link) for link in (process / "fd").iterdir() if link.is_symlink()}
        sockets = [line.split() for line in (process / "net" / "tcp").read_text().splitlines()[1:]]
        return {
            int(local.rpartition(":")[2], 16)
            for _, local, _, state, *rest in sockets
            if state == LISTENING and f"socket:[{rest[5]}]" in own
        }

    def stop(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(LIMIT_SECONDS)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def user(self, name: str) -> ClickHouse:
        return local_clickhouse.connect(self.settings, self.home, name)

    def _is_healthy(self) -> bool:
        with contextlib.suppress(OSError):
            return self.part.health().ok
        return False

    def servers(self) -> "list[Server]":
        return [self]

    def each(self, name: str) -> list[ClickHouse]:
        """Returns the connections of a user to every server."""
        return [server.user(name) for server in self.servers()]

    @property
    def store(self) -> Path:
        """The directory with all of ClickHouse's data."""
        return self.home.data("clickhouse") / "store"

    def copy_schema(self) -> None:
        """Before the first start: copies the store of a server that was migrated and got no rows.

        To migrate takes five times the CPU time of the copy.
        """
        for number, server in enumerate(self.servers()):
            copy_migrated_store(server.store, self.settings.cache, type(self), number)
        self.is_migrated = True

    def migrate(self, **more) -> None:
        """Applies all migrations, or those that `more` gives to the runner."""
        migration_runner.apply(self.user("admin"), **more)
        self.is_migrated = "migrations" not in more

    def forget(self) -> None:
        """Drops everything that the migrations created."""
        self.is_migrated = False
        for admin in self.each("admin"):
            for database in DATABASES:
                admin.execute(f"DROP DATABASE IF EXISTS {database} SYNC")

    def empty_tables(self, *names: str) -> None:
        """Removes the rows of tables, of each shard; without names of all tables."""
        for admin in self.each("admin"):
            tables = admin.rows(
                "SELECT database, name FROM system.tables WHERE database IN {databases:Array(String)} "
                "AND engine LIKE '%MergeTree' AND name != 'schema_migrations' AND total_rows > 0 "
                "AND (empty({names:Array(String)}) OR has({names:Array(String)}, name))",
                {"databases": list(DATABASES), "names": str(list(names))},
            )
            for table in tables:
                admin.execute(f"TRUNCATE TABLE {table['database']}.{table['name']} SYNC")


class Shards(Server):
    """Running servers, each a shard, without replicas and Keeper; two by default. Queries go to the first."""

    CLUSTER = "tailrace"

    def __init__(self, home: Path, weights: Sequence[int] = (1, 1)) -> None:
        super().__init__(home / "1", native=True)
        self.part.prepare = partial(self._prepare, self, self.part.prepare)
        self._all: list[Server] = [self]
        self.weights = weights
        """The weight of each shard in the cluster; later servers, if any, are not in it."""
        self.add_servers(len(weights) - 1)

    def add_servers(self, count: int) -> None:
        """Adds servers, which join the cluster with `join`."""
        for number in range(len(self._all) + 1, len(self._all) + count + 1):
            added = Server(self.home.root.with_name(str(number)), native=True)
            added.home.root.mkdir(exist_ok=True)
            (added.home.root / "secrets").symlink_to(self.home.secrets)
            added.settings.access.symlink_to(self.settings.access)
            self._all.append(added)
            added.part.prepare = partial(self._prepare, added, added.part.prepare)

    @property
    def second(self) -> Server:
        return self._all[1]

    def join(self, weights: Sequence[int]) -> None:
        """Restarts the servers of the cluster, which has these weights from then on."""
        self.stop()
        self.weights = weights
        self.start()

    def start(self) -> None:
        super().start()
        for server in self.servers()[1:]:
            server.start()

    def stop(self) -> None:
        for server in self.servers()[1:]:
            server.stop()
        super().stop()

    def servers(self) -> list[Server]:
        return self._all[: len(self.weights)]

    def migrate(self, **more) -> None:
        first, *others = self.each("admin")
        migration_runner.apply(first, self.CLUSTER, sharded=True, others=others, **more)
        self.is_migrated = "migrations" not in more

    def _prepare(self, server: Server, prepare: Callable[[], None]) -> None:
        """Returns the component's configuration, extended to one of the shards."""
        prepare()
        data = server.home.data("clickhouse")
        users, config = data / "users.xml", data / "config.xml"
        users.write_text(shards.users_of_shards(users.read_text()))
        servers = "".join(
            f"<shard><weight>{weight}</weight><replica><host>127.0.0.1</host>"
            f"<port>{each.settings.port_clickhouse_native}</port></replica></shard>"
            for each, weight in zip(self.servers(), self.weights, strict=True)
        )
        cluster = f"<{self.CLUSTER}><secret>{self.home.secret('shards')}</secret>{servers}</{self.CLUSTER}>"
        own = f"<tcp_port>{server.settings.port_clickhouse_native}</tcp_port>"
        added = f"{own}<remote_servers>{cluster}</remote_servers></clickhouse>"
        config.write_text(config.read_text().replace("</clickhouse>", added))


class Quiet:
    """The progress of an installation."""

    def report(self, doing: str) -> None:
        print(doing)

    def run(self, command, cwd=None, environment=None) -> None:
        subprocess.run(command, cwd=cwd, env={**os.environ, **(environment or {})}, check=True)


@contextlib.contextmanager
def running(server: Server) -> Iterator[Server]:
    if not server.part.installed():
        server.part.install(Quiet())
    try:
        server.start()
        yield server
    finally:
        server.stop()


def expect_few_rows(home: Home) -> None:
    """Before the first start of a ClickHouse: makes FOR_FEW_ROWS the default of its users.

    ClickHouse merges the file into its users.xml.
    """
    settings = "".join(f"<{name}>{value}</{name}>" for name, value in FOR_FEW_ROWS.items())
    directory = home.data("clickhouse") / "users.d"
    directory.mkdir(exist_ok=True)
    (directory / "tests.xml").write_text(
        f"<clickhouse><profiles><default>{settings}</default></profiles></clickhouse>"
    )


def copy_migrated_store(store: Path, installed: Path, kind: type[Server] = Server, number: int = 0) -> None:
    """Copies the store of a migrated server without rows; of several servers, that with this number.

    `installed` is the cache of components.
    """
    _copy(_migrated(kind, installed) / str(number), store)


def _migrated(kind: type[Server], installed: Path) -> Path:
    """Returns the stores of migrated servers of this kind, 0, 1 ..., in the cache of components."""
    files = (file for pattern in SCHEMA_SOURCES for file in sorted(REPOSITORY.glob(pattern)))
    fingerprint = content_hash.fingerprint(*filter(Path.is_file, files))
    entry = installed / "migrated-stores" / f"{kind.__name__.lower()}-{fingerprint}"
    if not entry.exists():
        with cache.build(entry) as draft, tempfile.TemporaryDirectory() as home:
            server = kind(Path(home))
            with running(server):
                server.migrate()
            for number, each in enumerate(server.servers()):
                _copy(each.store, draft / str(number))
    return entry


def _copy(store: Path, target: Path) -> None:
    """Copies symbolic links as such: databases and tables are links to directories."""
    subprocess.run(["cp", "--archive", store, target], check=True)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]
