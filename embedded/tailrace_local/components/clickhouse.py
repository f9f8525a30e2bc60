"""ClickHouse: the real engine from libchdb (npm), serving its own HTTP and native listeners."""

import http.client
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace.clickhouse import row_policies
from tailrace.clickhouse.client import ClickHouse as Client
from tailrace.clickhouse.client import ClickHouseError, tls_context
from tailrace.clickhouse.query_files import text_of
from tailrace.clickhouse.server_config import LOOPBACK, configuration_text, users_text
from tailrace.config import content_hash
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import CLOSED
from tailrace.config.template import write_private
from tailrace.credentials.certificates import Certificates
from tailrace.migrations import expiry
from tailrace.migrations import runner as migration_runner
from tailrace.migrations.lock import LockedError
from tailrace.migrations.migration_files import MigrationError
from tailrace.programs.program import HEALTHY, Health
from tailrace.retention.selectors import Selector, SelectorError
from tailrace_local.clickhouse import address, connect
from tailrace_local.components import clickhouse_server
from tailrace_local.supervisor import cache
from tailrace_local.supervisor.component import Component, Progress

EMBEDDED = REPOSITORY / "embedded" / "clickhouse"
NOT_APPLIED = "legal holds are not applied"
LIBRARY = Path("node_modules", "@chdb", "lib-linux-x64-gnu", "libchdb.so")


class ClickHouse(Component):
    """The process of the engine, which refuses a second process on the same data."""

    name = "clickhouse"
    tools = ("npm",)
    grace_seconds = 30

    # A merge on a full disk may leave a data part with empty files. At a start the engine sets such a part
    # aside and uses its source parts, which it retains for eight minutes.
    checks_data_at_start = True

    provision_seconds = 86_400
    """Each day the archive has another day, whose rows may be deleted."""

    refresh_seconds = 30
    """Pages record legal holds as a user that cannot change TTLs."""

    late_seconds = 300
    """How long holds may wait for the lock of migrations, or for an answer, until this is reported."""

    _is_provisioned = False
    _applied: Sequence[Selector] | None = None
    _seen: Sequence[Selector] | None = None
    _differs_since: float | None = None
    """Since when the recorded holds are not the applied ones, by time.monotonic()."""
    _is_interrupted = False
    """Whether an application may have ended between two statements, so that nothing is deleted."""
    _unapplied = ""

    def installed(self) -> bool:
        return self._library().exists()

    def install(self, progress: Progress) -> None:
        progress.report("downloading ClickHouse (libchdb 26.7.3, 170 MB)")
        with cache.build(self._entry()) as draft:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(EMBEDDED / name, draft)
            progress.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=draft)

    def prepare(self) -> None:
        if self._certificates.exist():
            self._certificates.complete()
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
            *(["--tls", self._certificates.file(self.name)] if self._certificates.exist() else []),
            self._library(),
            self._config(),
            data,
            LOOPBACK,
            *map(str, self.ports().values()),
        ]

    def ports(self) -> Mapping[str, int]:
        native = self.settings.port_clickhouse_native
        scheme = "HTTPS" if self._certificates.exist() else "HTTP"
        ports = {scheme: self.settings.port_clickhouse}
        return ports if native == CLOSED else {**ports, "native": native}

    def health(self) -> Health:
        try:
            server = connect(self.settings, self.home, "admin")
            context = tls_context(server.url, server.authorities)
            with urllib.request.urlopen(f"{server.url}/ping", timeout=1, context=context) as answer:
                return HEALTHY if answer.read() == b"Ok.\n" else Health.failing("answers, but not with Ok.")
        except urllib.error.HTTPError as error:
            return Health.failing(f"answers with HTTP {error.code}")

    def metrics(self) -> str:
        """The metrics under the names of ClickHouse's Prometheus endpoint, which libchdb lacks."""
        return connect(self.settings, self.home, "admin").execute(text_of("server_metrics"), timeout=5)

    def provision(self) -> None:
        """Applies sql/migrations.

        Before the first one of a supervisor's life succeeds, nothing writes: all components that write need
        this one. Later, migrations that change views are refused. A hold that cannot be read leaves the TTLs
        as they are, which is the last step: logs are stored nevertheless.
        """
        admin = connect(self.settings, self.home, "admin")
        problem, self._is_interrupted = "", True
        try:
            migration_runner.apply(admin, writers_stopped=not self._is_provisioned)
            self._is_interrupted = False
        except SelectorError as error:
            problem = f"{NOT_APPLIED}: {error}"
        self._unapplied, self._is_provisioned = problem, True

    def refresh(self) -> None:
        """Applies legal holds that pages recorded, when it sees them twice: a command applies its own.
        If the lock of migrations is held, or a connection is lost, the next call tries again."""
        try:
            self._apply_holds(connect(self.settings, self.home, "admin"))
        except LockedError as error:
            self._report_late(error)
        except (MigrationError, SelectorError, ClickHouseError) as error:
            self._is_interrupted = True
            self._unapplied = f"{NOT_APPLIED}: {error}"
        except (OSError, http.client.HTTPException) as error:
            self._is_interrupted = True
            self._report_late(error)

    def _apply_holds(self, admin: Client) -> None:
        held = expiry.held(admin)
        seen, self._seen = self._seen, held
        if held == self._applied and not self._is_interrupted:
            self._differs_since, self._unapplied = None, ""
            return
        if self._differs_since is None:
            self._differs_since = time.monotonic()
        if held != seen:
            return
        # The shortcut compares no parts, and starts no deletion that an interrupted run has stopped.
        if self._is_interrupted or not migration_runner.is_retention_applied(admin):
            migration_runner.apply_retention(admin)
        self._applied, self._is_interrupted = held, False
        self._differs_since, self._unapplied = None, ""

    def _report_late(self, error: Exception) -> None:
        """Reports what recorded holds wait for, after `late_seconds`."""
        since = self._differs_since
        if since is not None and time.monotonic() - since >= self.late_seconds:
            self._unapplied = f"recorded legal holds or releases wait to be applied: {error}"

    def problem(self) -> str:
        return self._unapplied

    def version(self) -> str:
        return connect(self.settings, self.home, "admin").execute("SELECT version()").strip()

    def address(self) -> str:
        return address(self.settings, self.home)

    def has_its_access(self) -> bool:
        """Returns whether the users match the current access.yaml, which is read when the component
        starts."""
        return self._users().exists() and self._users().read_text() == self._users_text()

    def _users_text(self) -> str:
        return users_text(
            self.home.secret,
            self.settings.memory_clickhouse,
            [LOOPBACK],
            row_policies.load(self.settings.access),
        )

    @property
    def _certificates(self) -> Certificates:
        return Certificates(self.home)

    def _entry(self) -> Path:
        fingerprint = content_hash.fingerprint(EMBEDDED / "package-lock.json")
        return self.settings.cache / self.name / fingerprint

    def _library(self) -> Path:
        return self._entry() / LIBRARY

    def _config(self) -> Path:
        return self.home.data(self.name) / "config.xml"

    def _users(self) -> Path:
        return self.home.data(self.name) / "users.xml"
