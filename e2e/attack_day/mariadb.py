"""A real MariaDB from Debian's packages, with all logs enabled and a simulated clock."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pymysql

from e2e.limits import LIMIT_SECONDS
from tailrace.config import content_hash
from tailrace_local.supervisor import cache

PACKAGES = ("mariadb-server", "mariadb-client", "libfaketime", "logrotate")
PORT = 3306
STOP_SECONDS = 60
SETTLE_SECONDS = 0.5
MAX_CLOSE = 1024
"""The end of an audit record of a session's end."""
PACKAGE_LOCK_SECONDS = 300

CONFIGURATION = """\
[mariadbd]
user=root
port={port}
bind-address={bind}
basedir={root}/usr
lc_messages_dir={root}/usr/share/mysql
plugin_dir={root}/usr/lib/mysql/plugin
character_sets_dir={root}/usr/share/mysql/charsets
datadir={directory}/data
socket={directory}/mariadb.sock
pid-file={directory}/mariadb.pid
default_time_zone=+00:00
skip-name-resolve
local_infile=1
secure_file_priv=
innodb_buffer_pool_size=64M
innodb_flush_log_at_trx_commit=0
log_error={logs}/error.log
log_warnings=9
slow_query_log=1
slow_query_log_file={logs}/slow.log
long_query_time=0
log_slow_verbosity=query_plan,innodb
log_bin={directory}/data/binlog
server_id=1
plugin_load_add=server_audit
server_audit_logging=1
server_audit_file_path={logs}/server_audit.log
server_audit_file_rotate_size=1000000000
server_audit_query_log_limit=65535
"""


class MariaDbError(RuntimeError):
    """The server or a required client failed; the message states the reason."""


class Installation:
    """The unpacked programs, stored in the cache."""

    def __init__(self, root: Path):
        self.root = root

    @staticmethod
    def install(cache_directory: Path) -> "Installation":
        """Unpacks Debian's packages with their missing dependencies. Needs root."""
        entry = cache_directory / "mariadb" / content_hash.fingerprint(*PACKAGES)
        if not entry.exists():
            with cache.build(entry) as draft:
                archives = draft / "archives"
                (archives / "partial").mkdir(parents=True)
                _apt("update", "-qq")
                options = (f"-oDir::Cache::archives={archives}", "--download-only", "--no-install-recommends")
                _apt("install", "-qq", "-y", "--reinstall", *options, *PACKAGES)
                for archive in sorted(archives.glob("*.deb")):
                    subprocess.run(["dpkg-deb", "-x", archive, draft], check=True)
                shutil.rmtree(archives)
        return Installation(entry)

    def program(self, name: str) -> Path:
        """Returns the path of a program of the packages, such as mariadb-dump."""
        found = [
            path for path in (self.root / "usr/sbin" / name, self.root / "usr/bin" / name) if path.exists()
        ]
        if not found:
            raise MariaDbError(f"Debian's packages have no program {name}")
        return found[0]

    def environment(self) -> dict[str, str]:
        """Returns the environment in which the programs find their libraries."""
        libraries = sorted((self.root / "usr/lib").glob("*-linux-gnu")) + sorted(
            (self.root / "lib").glob("*-linux-gnu")
        )
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, libraries))}

    def faketime(self) -> Path:
        return next(self.root.glob("usr/lib/*/faketime/libfaketime.so.1"))


def _apt(*words: str) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    lock = f"-oDPkg::Lock::Timeout={PACKAGE_LOCK_SECONDS}"
    done = subprocess.run(["apt-get", lock, *words], env=quiet, capture_output=True, text=True)
    if done.returncode:
        raise MariaDbError(f"apt-get {words[0]} failed: {done.stderr.strip()}")


class Clock:
    """The server's clock: it runs at normal speed, and can be set."""

    def __init__(self, file: Path, start: datetime):
        self._file = file
        self._offset = timedelta()
        self.set(start)

    def now(self) -> datetime:
        """Returns the server's time, UTC."""
        return datetime.now(UTC) + self._offset

    def set(self, to: datetime) -> None:
        """Moves the server's clock forward, never backward: times in the logs must increase."""
        offset = to - datetime.now(UTC)
        if self._file.exists() and offset < self._offset:
            return
        self._offset = offset
        draft = self._file.with_suffix(".draft")
        draft.write_text(f"{offset.total_seconds():+.6f}\n")
        draft.rename(self._file)


class Server:
    """One server with its data and logs below a directory. Listens in this process's network namespace."""

    def __init__(
        self,
        installation: Installation,
        directory: Path,
        start: datetime,
        port: int = PORT,
        bind: str = "0.0.0.0",
    ):
        self.installation = installation
        self.directory = directory
        self.port = port
        self.bind = bind
        self.logs = directory / "logs"
        self.logs.mkdir(parents=True)
        self.clock = Clock(directory / "clock", start)
        self.configuration = directory / "my.cnf"
        self._process: subprocess.Popen | None = None

    @property
    def socket(self) -> Path:
        return self.directory / "mariadb.sock"

    def _environment(self) -> dict[str, str]:
        """Has a directory of its own for temporary tables: a server that starts deletes those of others."""
        temporary = self.directory / "tmp"
        temporary.mkdir(exist_ok=True)
        return {**self.installation.environment(), "TMPDIR": str(temporary)}

    def create(self) -> None:
        """Creates the data directory; root may log in without a password over the socket."""
        texts = {"root": self.installation.root, "directory": self.directory, "logs": self.logs}
        self.configuration.write_text(CONFIGURATION.format(port=self.port, bind=self.bind, **texts))
        bootstrap = [
            self.installation.program("mariadb-install-db"),
            "--no-defaults",
            "--user=root",
            f"--basedir={self.installation.root / 'usr'}",
            f"--datadir={self.directory / 'data'}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ]
        done = subprocess.run(bootstrap, env=self._environment(), capture_output=True, text=True)
        if done.returncode:
            raise MariaDbError(f"mariadb-install-db failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")

    def start(self, *options: str) -> None:
        """Starts the server and waits until it responds."""
        faked = {
            "LD_PRELOAD": str(self.installation.faketime()),
            "FAKETIME_TIMESTAMP_FILE": str(self.directory / "clock"),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        with (self.directory / "mariadbd.out").open("ab") as out:
            self._process = subprocess.Popen(
                [self.installation.program("mariadbd"), f"--defaults-file={self.configuration}", *options],
                env={**self._environment(), **faked},
                stdout=out,
                stderr=out,
            )
        self._await_answer()

    def _await_answer(self) -> None:
        deadline = time.monotonic() + LIMIT_SECONDS
        while not self.socket.exists() or not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise MariaDbError(f"the server does not start: {self.logs / 'error.log'}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            with pymysql.connect(unix_socket=str(self.socket), user="root"):
                return True
        except pymysql.err.OperationalError as error:
            return error.args[0] == 1045  # it answers, and knows us no more

    def stop(self) -> None:
        """Shuts the server down."""
        self._process.terminate()
        self.wait()

    def kill(self, with_signal: signal.Signals = signal.SIGKILL) -> None:
        """Kills the server; it can be started again."""
        self._process.send_signal(with_signal)
        self._process.wait(STOP_SECONDS)

    def wait(self) -> None:
        """Waits until the server has ended, as after SHUTDOWN, and kills it if it does not end.

        With a faked clock, a shutdown once did not end. The next start then recovers InnoDB.
        """
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def settle(self) -> None:
        """Waits until the closed sessions are completely in the audit log.

        The server writes their end after the client has its response, and must do so before the clock moves.
        For a session that is not logged, this waits until its limit.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        while b",DISCONNECT," not in self._last_line() and time.monotonic() < deadline:
            time.sleep(0.001)

    def _last_line(self) -> bytes:
        with (self.logs / "server_audit.log").open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - MAX_CLOSE))
            lines = log.read().splitlines(keepends=True)
        return lines[-1] if lines and lines[-1].endswith(b"\n") else b""

    def client(
        self, words: Sequence[str | Path], program: str = "mariadb", feed: str | None = None
    ) -> subprocess.CompletedProcess:
        """Runs one of the packages' client programs; the caller checks its exit code."""
        return subprocess.run(
            [self.installation.program(program), *words],
            env=_without_options(self.installation.environment()),
            input=feed,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_SECONDS,
        )


def _without_options(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment without any .my.cnf."""
    return {**environment, "HOME": "/nonexistent", "MYSQL_HOME": "/nonexistent"}
