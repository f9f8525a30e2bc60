"""Replicated ClickHouse servers and a ZooKeeper on loopback, for `make test-replicas` only.

A replica is the component of the one-machine stack with replica_process.py in place of its program, which
turns one exact build of the embedded engine into a replica. `ON CLUSTER` does not run: that engine has no
worker for it. So the migrations run on each server in order, as on a site that does not use ON CLUSTER.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from e2e.limits import LIMIT_SECONDS
from sql.tests.clickhouse_servers import Server
from tailrace.clickhouse import shards
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.config import content_hash
from tailrace.migrations import runner as migration_runner
from tailrace_local.supervisor import maven

HERE = Path(__file__).parent
PROCESS = HERE / "replica_process.py"
POM = HERE / "zookeeper" / "pom.xml"
CLUSTER = "tailrace"
FIRST_PORT = int(os.environ.get("REPLICAS_FIRST_PORT", "23180"))
"""The port of ZooKeeper; each replica uses the next two."""
LOG_LEVEL = os.environ.get("REPLICAS_LOG_LEVEL", "warning")
CATCH_UP_SECONDS = 180


class ZooKeeper:
    """One ZooKeeper on loopback, without authentication."""

    def __init__(self, home: Path, port: int) -> None:
        self.port = port
        self._home = home
        self._process: subprocess.Popen | None = None

    def install(self, cache: Path, progress) -> None:
        self._libraries = cache / "zookeeper" / content_hash.fingerprint(POM)
        if not self._libraries.exists():
            maven.copy_dependencies(progress, POM, self._libraries)

    def start(self) -> None:
        self._home.mkdir(parents=True, exist_ok=True)
        config = self._home / "zoo.cfg"
        config.write_text(
            f"dataDir={self._home}/data\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n"
            "admin.enableServer=false\ntickTime=2000\n4lw.commands.whitelist=ruok\n"
        )
        java = ["java", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        main = "org.apache.zookeeper.server.ZooKeeperServerMain"
        with (self._home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*java, "-cp", f"{self._libraries}/*", main, config], stdout=log, stderr=log
            )
        wait_until(self._answers, "ZooKeeper answers", LIMIT_SECONDS)

    def _answers(self) -> bool:
        assert self._process.poll() is None, (self._home / "log").read_text()
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), 1) as connection,
        ):
            connection.sendall(b"ruok")
            return connection.recv(4) == b"imok"
        return False

    def pause(self) -> None:
        """Stops answering, as a coordinator that is cut off does."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self._process:
            self.resume()
            self._process.kill()
            self._process.wait()


class Replica(Server):
    """One server of a shard, with an address of its own for the others."""

    def __init__(self, home: Path, cluster: "Replicas", shard: int, number: int) -> None:
        first = cluster.zookeeper.port + 2 * number - 1
        super().__init__(home, native=True, ports=(first, first + 1))
        self.shard = shard
        self.name = f"r{number}"
        self.address = f"127.0.0.{10 + number}"
        self.announced = self.address
        """The address at which the others ask for parts. A relay may be between."""
        self.coordinator = "127.0.0.1"
        """The address at which the server finds ZooKeeper."""
        self.is_running = False
        self.part.command = self._command
        self.part.prepare = partial(self._prepare, cluster, self.part.prepare)

    def start(self) -> None:
        super().start()
        self.is_running = True

    def kill(self) -> None:
        self.is_running = False
        super().kill()

    def stop(self) -> None:
        self.is_running = False
        super().stop()

    def _command(self) -> Sequence[str | Path]:
        store = self.home.data("clickhouse") / "store"
        ports = map(str, (self.settings.port_clickhouse, self.settings.port_clickhouse_native))
        library, config = self.part._library(), self.part._config()
        return [sys.executable, "-I", "-S", PROCESS, library, config, store, *ports, self.announced]

    def _prepare(self, cluster: "Replicas", prepare: Callable[[], None]) -> None:
        """Writes the component's configuration, extended to a replica of the cluster."""
        prepare()
        config, users = self.part._config(), self.part._users()
        if cluster.is_sharded:
            users.write_text(shards.users_of_shards(users.read_text()))
        text = config.read_text().replace("<level>warning</level>", f"<level>{LOG_LEVEL}</level>")
        config.write_text(text.replace("</clickhouse>", f"{cluster.xml_of(self)}</clickhouse>"))

    @property
    def writer(self) -> ClickHouse:
        """The user of the jobs."""
        return self.user("writer")

    def number(self, sql: str, **parameters: object) -> int:
        """Returns the number that a question to this server gives, as admin."""
        return int(self.user("admin").execute(sql, parameters))


class Replicas:
    """A cluster: `layout` is the number of replicas of each shard, such as (3,) or (2, 2)."""

    def __init__(self, home: Path, layout: Sequence[int] = (3,), first_port: int = FIRST_PORT) -> None:
        self.zookeeper = ZooKeeper(home / "zookeeper", _free_range(first_port, 2 * sum(layout) + 1))
        self.is_sharded = len(layout) > 1
        shard_numbers = [shard for shard, count in enumerate(layout, 1) for _ in range(count)]
        self.servers = [
            Replica(home / f"r{number}", self, shard, number) for number, shard in enumerate(shard_numbers, 1)
        ]
        first = self.servers[0]
        for server in self.servers[1:]:
            server.home.root.mkdir(exist_ok=True, parents=True)
            (server.home.root / "secrets").symlink_to(first.home.secrets)

    @property
    def database(self) -> str:
        """The database of the tables that store rows."""
        return shards.SHARD_DATABASE if self.is_sharded else shards.DATABASE

    def xml_of(self, server: Replica) -> str:
        """Returns the configuration of one replica. Sessions: all embedded engines have the same, empty UUID,
        so that they would end each other's sessions in one path."""
        return (
            f"<listen_host>{server.address}</listen_host>"
            f"<tcp_port>{server.settings.port_clickhouse_native}</tcp_port>"
            f"<zookeeper><node><host>{server.coordinator}</host><port>{self.zookeeper.port}</port></node>"
            f"<sessions_path>/clickhouse/sessions-{server.name}</sessions_path></zookeeper>"
            f"<macros><shard>{server.shard}</shard><replica>{server.name}</replica></macros>"
            f"<remote_servers><{CLUSTER}><secret>{server.home.secret('shards')}</secret>"
            f"{''.join(map(self._xml_of_shard, sorted({each.shard for each in self.servers})))}"
            f"</{CLUSTER}></remote_servers>"
        )

    def _xml_of_shard(self, shard: int) -> str:
        servers = "".join(
            f"<replica><host>127.0.0.1</host><port>{each.settings.port_clickhouse_native}</port></replica>"
            for each in self.servers
            if each.shard == shard
        )
        return f"<shard><internal_replication>true</internal_replication>{servers}</shard>"

    def start(self) -> None:
        self.zookeeper.start()
        for server in self.servers:
            server.start()

    def stop(self) -> None:
        for server in self.servers:
            server.stop()
        self.zookeeper.stop()

    def running(self) -> list[Replica]:
        return [server for server in self.servers if server.is_running]

    def processes(self) -> list[int]:
        return [server.pid for server in self.running()]

    def each(self, user: str) -> list[ClickHouse]:
        return [server.user(user) for server in self.servers]

    def migrate(self, **more) -> list[str]:
        first, *others = self.each("admin")
        cluster = CLUSTER if self.is_sharded else ""
        return migration_runner.apply(
            first, cluster, sharded=self.is_sharded, others=others, replicated=True, **more
        )

    def on_each(self, sql: str) -> list[int]:
        """Returns the answers of all running servers to a question for a number."""
        return [server.number(sql) for server in self.running()]

    def await_calm(self) -> None:
        """Waits until every running replica has everything that the others know."""
        wait_until(self._is_calm, "replicas have caught up", CATCH_UP_SECONDS)

    def _is_calm(self) -> bool:
        behind = (
            "SELECT sum(queue_size) + sum(is_readonly) "
            "+ countIf(log_max_index > 0 AND log_pointer <= log_max_index) FROM system.replicas"
        )
        with contextlib.suppress(ClickHouseError):
            return not any(self.on_each(behind))
        return False

    def queues(self) -> dict[str, list[dict]]:
        """Returns what each running server waits for."""
        waiting = (
            "SELECT table, type, new_part_name AS part, num_tries, substring(last_exception, 1, 200) AS "
            "problem FROM system.replication_queue"
        )
        return {server.name: server.user("admin").rows(waiting) for server in self.running()}

    def revive(self) -> None:
        """Starts the servers that were killed. Fails if another one has ended."""
        for server in self.servers:
            if not server.is_running:
                server.start()
            assert server.pid

    def empty_tables(self) -> None:
        self.revive()
        self.await_calm()
        for admin in self.each("admin"):
            for table in admin.rows(
                "SELECT name FROM system.tables WHERE database = {database:String} "
                "AND engine LIKE '%MergeTree' AND name != 'schema_migrations' AND total_rows > 0",
                {"database": self.database},
            ):
                admin.execute(f"TRUNCATE TABLE {self.database}.{table['name']} SYNC", alter_sync=2)


def _free_range(first: int, count: int) -> int:
    """Returns the first of `count` free ports, from `first` on. Clients of other programs may use some."""
    for start in range(first, first + 10 * count, count):
        with contextlib.suppress(OSError), contextlib.ExitStack() as bound:
            for port in range(start, start + count):
                bound.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return start
    raise OSError(f"the ports from {first} on are in use")


def delay(server: ClickHouse) -> int:
    """Returns how far the server's replica of query_events is behind, in seconds."""
    found = server.rows(
        "SELECT max(absolute_delay) AS delay FROM system.replicas WHERE table = 'query_events'"
    )
    return int(found[0]["delay"])


def wait_until(holds: Callable[[], bool], what: str | Callable[[], str], seconds: float = 120) -> None:
    """Waits for a condition; fails with `what` after that many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        text = what if isinstance(what, str) or time.monotonic() < deadline else what()
        assert time.monotonic() < deadline, f"not within {seconds} s: {text}"
        time.sleep(0.1)


@contextlib.contextmanager
def running(cluster: Replicas, progress) -> Iterator[Replicas]:
    part = cluster.servers[0].part
    if not part.installed():
        part.install(progress)
    cluster.zookeeper.install(cluster.servers[0].settings.cache, progress)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
