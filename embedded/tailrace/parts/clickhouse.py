"""ClickHouse: the real engine from libchdb (npm), serving its own HTTP and native listeners."""

import hashlib
import shutil
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from tailrace import access, migrations, shards
from tailrace.accounts import connect, password_name
from tailrace.parts import clickhouse_server
from tailrace.settings import CLOSED, REPOSITORY
from tailrace.stack import cache
from tailrace.stack.part import HEALTHY, Health, Part, Progress
from tailrace.stack.template import fill, write_private

EMBEDDED = REPOSITORY / "embedded" / "clickhouse"
CONFIG_TEMPLATE = REPOSITORY / "sql" / "users" / "config.xml.template"
USERS_TEMPLATE = REPOSITORY / "sql" / "users" / "users.xml.template"
METRICS = REPOSITORY / "sql" / "queries" / "server_metrics.sql"
LIBRARY = Path("node_modules", "@chdb", "lib-linux-x64-gnu", "libchdb.so")

MEBIBYTE = 1024 * 1024
PASSWORD_HASH = "_PASSWORD_SHA256"
ROWS = "_ROWS"
NETWORKS = "CLIENT_NETWORKS"
LOOPBACK = "127.0.0.1"
MEMORY_SHARES = {
    "ADMIN_MEMORY_BYTES": 0.8,
    "WRITER_MEMORY_BYTES": 0.5,
    "READER_MEMORY_BYTES": 0.5,
    "READER_SPILL_BYTES": 0.2,
}
"""Of the most that the server may use, what one query of a profile may."""


class ClickHouse(Part):
    """One process that holds the engine; a second one on the same data is refused by the engine itself."""

    name = "clickhouse"
    tools = ("npm",)
    grace_seconds = 30

    # A merge that ran into a full disk may have left a part with empty files. At a start the engine puts such
    # a part aside and takes those that it was merged of, which it keeps for eight minutes.
    checks_data_at_start = True

    def installed(self) -> bool:
        return self._library().exists()

    def install(self, progress: Progress) -> None:
        progress.say("downloading ClickHouse (libchdb 26.7.3, 170 MB)")
        with cache.build(self._entry()) as draft:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(EMBEDDED / name, draft)
            progress.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=draft)

    def prepare(self) -> None:
        write_private(self._users(), self._users_text())
        listeners = f"<listen_host>{LOOPBACK}</listen_host>"
        text = configuration_text(listeners, self._users(), self.settings.memory_clickhouse)
        write_private(self._config(), text)

    def command(self) -> Sequence[str | Path]:
        server = Path(clickhouse_server.__file__)
        data = self.home.data(self.name) / "store"
        return [
            sys.executable,
            "-I",
            "-S",
            server,
            self._library(),
            self._config(),
            data,
            LOOPBACK,
            *map(str, self.ports().values()),
        ]

    def ports(self) -> Mapping[str, int]:
        native = self.settings.port_clickhouse_native
        ports = {"HTTP": self.settings.port_clickhouse}
        return ports if native == CLOSED else {**ports, "native": native}

    def health(self) -> Health:
        try:
            with urllib.request.urlopen(f"{self.address()}/ping", timeout=1) as answer:
                return HEALTHY if answer.read() == b"Ok.\n" else Health.failing("answers, but not with Ok.")
        except urllib.error.HTTPError as error:
            return Health.failing(f"answers with HTTP {error.code}")

    def metrics(self) -> str:
        """By the names of ClickHouse's own endpoint, which libchdb does not have."""
        return connect(self.settings, self.home, "admin").execute(METRICS.read_text(), timeout=5)

    def provision(self) -> None:
        """Applies sql/migrations."""
        migrations.apply(connect(self.settings, self.home, "admin"))

    def version(self) -> str:
        return connect(self.settings, self.home, "admin").execute("SELECT version()").strip()

    def address(self) -> str:
        return f"http://127.0.0.1:{self.settings.port_clickhouse}"

    def has_its_access(self) -> bool:
        """Whether the users were made by access.yaml as it is now; they are read when the part starts."""
        return self._users().exists() and self._users().read_text() == self._users_text()

    def _users_text(self) -> str:
        return users_text(
            self.home.secret, self.settings.memory_clickhouse, [LOOPBACK], access.load(self.settings.access)
        )

    def _entry(self) -> Path:
        fingerprint = cache.fingerprint(EMBEDDED / "package-lock.json")
        return self.settings.cache / self.name / fingerprint

    def _library(self) -> Path:
        return self._entry() / LIBRARY

    def _config(self) -> Path:
        return self.home.data(self.name) / "config.xml"

    def _users(self) -> Path:
        return self.home.data(self.name) / "users.xml"


def configuration_text(listeners: str, users: Path, memory: int) -> str:
    """The server's configuration.

    `listeners` is XML: where it listens and keeps its data; `users` the file with users_text as the server
    sees it; `memory` the most that the server may use, MiB.
    """
    values = {"LISTENERS": listeners, "USERS_XML": users, "SERVER_MEMORY_BYTES": memory * MEBIBYTE}
    return fill(CONFIG_TEMPLATE, values)


def users_text(
    secret: Callable[[str], str],
    memory: int,
    networks: Iterable[str],
    restrictions: Mapping[str, access.Restriction],
    sharded: bool = False,
) -> str:
    """Users, roles and limits of ClickHouse; `sharded` where it has more than one shard.

    `secret` gives the password by its name, such as `clickhouse-writer`; `memory` is the most that the server
    may use, MiB; users connect from `networks`, addresses or CIDR.
    """

    def value(name: str) -> object:
        if name == NETWORKS:
            return "".join(f"<ip>{escape(network)}</ip>" for network in networks)
        if name.endswith(ROWS):
            return row_policies(name.removesuffix(ROWS).lower(), restrictions)
        if name.endswith(PASSWORD_HASH):
            password = secret(password_name(name.removesuffix(PASSWORD_HASH).lower()))
            return hashlib.sha256(password.encode()).hexdigest()
        return int(memory * MEBIBYTE * MEMORY_SHARES[name])

    text = fill(USERS_TEMPLATE, value)
    return shards.users_of_shards(text) if sharded else text


def row_policies(user: str, restrictions: Mapping[str, access.Restriction]) -> str:
    """What a reader of the users' template has as `databases`: a filter for each table."""
    audience = user.removeprefix("reader_")
    if audience not in restrictions:
        return ""
    filters = restrictions[audience].of_tables(audience)
    tables = "".join(
        f"<{table}><filter>{escape(condition)}</filter></{table}>" for table, condition in filters.items()
    )
    return f"<databases><tailrace>{tables}</tailrace></databases>"
