#!/usr/bin/env python3
"""The census: writes every few seconds a list of all log files with their sizes.

Fluent Bit can report what it has shipped, but not what it has missed. So this independent process reads the
same files and appends one JSON line per file (schemas/census.schema.json) to an hourly spool file for each
kind of log, which Fluent Bit tails. A delayed census still proves the coverage of its minutes; minutes
without a census are unknown, never covered.

Between two rounds it checks five times a second whether a live path refers to another file than before, and
immediately takes a census of that log. So it detects renames within seconds of each other.

It needs only the standard library of Python 3.9, so that a copy of this file runs on any database server.
With the key of the host (--key) it also signs what it sees: then it needs the directory tailrace_signing
beside it, and the library cryptography.

The environment configures it, as for Fluent Bit (../README.md):

    TAILRACE_INSTANCE, TAILRACE_CLUSTER        names of the server and of its cluster
    TAILRACE_SLOWLOG_PATH, TAILRACE_AUDIT_PATH,
    TAILRACE_ERRORLOG_PATH, TAILRACE_GENERAL_PATH
                                               live files, separated by commas, glob patterns allowed
    TAILRACE_CENSUS_SPOOL                      directory of the spool
    TAILRACE_HOST_KEY, TAILRACE_HOST           file of the host's key, if any, and name of the host
    TAILRACE_HEALTH_HOST, TAILRACE_HEALTH_PORT where Fluent Bit tells since when it runs

or, for several servers' logs on one machine, from --sources: a JSON list of objects with the keys cluster,
instance, source (slowlog, audit, errorlog or general) and path.

For each live file it also lists the rotated siblings (slow.log.1, slow.log-20260101, slow.log.old), but no
compressed ones: their size does not correspond to the log's bytes.
"""

import argparse
import glob
import hashlib
import json
import os
import re
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

KINDS = ("slowlog", "audit", "errorlog", "general")
HEAD_BYTES = 4096
RENAME_POLL_SECONDS = 0.2
STEADY_TRIES = 3
SPOOL_SECONDS = 3600
SPOOL_KEPT_SECONDS = 72 * 3600

ROTATED = re.compile(r"(.+)(\.[0-9]{1,6}|-(19|20)[0-9]{6}([0-9]{6})?(-[0-9]+)?|\.gz|\.old)", re.DOTALL)


@dataclass(frozen=True)
class Source:
    """A watched log; `path` may be a glob pattern. Raises ValueError if `source` is none of KINDS."""

    cluster: str
    instance: str
    source: str
    path: str

    def __post_init__(self) -> None:
        if self.source not in KINDS:
            raise ValueError(f"source must be one of {', '.join(KINDS)}, not {self.source!r}")


@dataclass(frozen=True)
class Record:
    """One file in a census. Times are seconds since 1970 UTC, sizes are bytes."""

    at: float
    cluster: str
    instance: str
    source: str
    path: str
    inode: int
    size: int
    head_length: int
    head_hash: str
    mtime: float


class ConfigurationError(ValueError):
    """No log is configured; the message states how to configure one."""


def canonical_path(path: str) -> str:
    """Returns the path without rotation suffixes, by the rule of schemas/contracts/canonical_path.json."""
    directory, slash, name = path.rpartition("/")
    while rotated := ROTATED.fullmatch(name):
        name = rotated[1]
    return f"{directory}{slash}{name}"


def sources_from_environment(environment: Mapping[str, str]) -> list[Source]:
    """Returns the logs of the one server in the environment. Raises ConfigurationError."""
    instance = environment.get("TAILRACE_INSTANCE")
    if not instance:
        raise ConfigurationError("TAILRACE_INSTANCE is not set and no --sources given")
    cluster = environment.get("TAILRACE_CLUSTER") or instance
    found = [
        Source(cluster, instance, source, path.strip())
        for source in KINDS
        for path in environment.get(f"TAILRACE_{source.upper()}_PATH", "").split(",")
        if path.strip()
    ]
    if not found:
        raise ConfigurationError("none of TAILRACE_{SLOWLOG,AUDIT,ERRORLOG,GENERAL}_PATH is set")
    return found


def sources_from_file(file: Path) -> list[Source]:
    """Reads the logs of a JSON file. Raises ConfigurationError."""
    try:
        return [Source(**entry) for entry in json.loads(file.read_text())]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigurationError(f"{file}: expected a JSON list of sources: {error}") from error


def live_paths(source: Source) -> set[str]:
    """Returns the live paths, whether or not they exist; for a pattern, the matching paths."""
    found = glob.glob(source.path) if glob.has_magic(source.path) else [source.path]
    return {os.path.abspath(path) for path in found}


def watched_files(source: Source) -> Iterator[str]:
    """Yields the live files of a source and their rotated siblings, each once, sorted by name."""
    live = live_paths(source)
    wanted = {canonical_path(path) for path in live}
    for directory in sorted({os.path.dirname(path) for path in live}):
        for name in _names_in(directory):
            path = os.path.join(directory, name)
            if not name.endswith(".gz") and canonical_path(path) in wanted:
                yield path


def _names_in(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError as error:
        report(f"cannot list {directory}: {error.strerror}")
        return []


def record_of(source: Source, path: str) -> "Record | None":
    """Returns the file's record; None, with the reason on standard error, if it cannot be read."""
    try:
        path.encode()
        at = time.time()
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            head = whole_lines(file.read(min(HEAD_BYTES, status.st_size)))
    except FileNotFoundError:
        return None  # renamed between listing and opening; the next census has it under its new name
    except (OSError, UnicodeError) as error:
        report(f"cannot read {path!r}: {error}")
        return None
    return Record(
        at=round(at, 3),
        cluster=source.cluster,
        instance=source.instance,
        source=source.source,
        path=path,
        inode=status.st_ino,
        size=status.st_size,
        head_length=len(head),
        head_hash=hashlib.md5(head, usedforsecurity=False).hexdigest(),
        mtime=round(status.st_mtime, 3),
    )


def whole_lines(head: bytes) -> bytes:
    """Returns the head up to its last line feed. Collectors ship only complete lines, and never an endless
    one, so only complete lines can be compared with shipped ones."""
    return head[: head.rfind(b"\n") + 1]


def take_census(source: Source) -> list[Record]:
    """Returns one record per file, each read once.

    A rename meanwhile can hide one file and list another twice; then the census is repeated.
    """
    for _ in range(STEADY_TRIES):
        names = inodes_of(watched_files(source))
        records = [record for path in names if (record := record_of(source, path))]
        if inodes_of(watched_files(source)) == names:
            break
    return records


def inodes_of(paths: Iterable[str]) -> "dict[str, int | None]":
    """Returns the inode of each path, in the same order; None for missing files."""
    return {path: _inode_of(path) for path in paths}


def _inode_of(path: str) -> "int | None":
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


class PathOwners:
    """The inode of each live path at the last check."""

    def __init__(self) -> None:
        self._inodes: dict[Source, dict[str, int | None]] = {}

    def remember(self, source: Source) -> None:
        self._inodes[source] = inodes_of(live_paths(source))

    def have_changed(self, source: Source) -> bool:
        """Returns whether a path has another inode, or was created or removed. New matches of a pattern are
        only found by `remember`."""
        known = self._inodes[source]
        return inodes_of(known) != known


class Spool:
    """Hourly files of JSON lines in one directory, separate for each kind of log, so that Fluent Bit can send
    them to the topic of that log's lines. A census is appended with a single write. The rules are in
    schemas/contracts/spool.json."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def append(self, kind: str, records: Iterable[Record], now: float) -> None:
        """Raises OSError, also if only a part could be written."""
        lines = "".join(json.dumps(asdict(record), separators=(",", ":")) + "\n" for record in records)
        path = self.directory / time.strftime(f"census-{kind}-%Y%m%dT%H.jsonl", time.gmtime(now))
        is_new = not path.exists()
        with open(path, "a+b", buffering=0) as file:
            whole = self._end_of_torn_line(file) + lines.encode()
            written = file.write(whole)
            if written != len(whole):
                raise OSError(f"{path}: only {written} of {len(whole)} bytes could be written")
        os.utime(path)  # also records a census without any file
        if is_new:
            self.remove_old(now)

    @staticmethod
    def _end_of_torn_line(file: BinaryIO) -> bytes:
        """Returns a line feed if the last line is incomplete, after a crash or on a full disk."""
        if file.seek(0, os.SEEK_END) == 0:
            return b""
        file.seek(-1, os.SEEK_END)
        return b"" if file.read(1) == b"\n" else b"\n"

    def remove_old(self, now: float) -> None:
        """Removes spool files that are older than any expected outage of a collector."""
        for path in self.directory.glob("census-*.jsonl"):
            if path.stat().st_mtime < now - SPOOL_KEPT_SECONDS:
                path.unlink()


def report(message: str) -> None:
    print(f"census: {message}", file=sys.stderr, flush=True)


def run(
    sources: list[Source],
    spool: Spool,
    interval: int,
    stopped: threading.Event,
    signing: Any = None,
) -> None:
    """Takes a census at every multiple of `interval` seconds of the clock, and immediately after a change of
    a log's inodes, until `stopped`. `signing` is a tailrace_signing.service.Signing."""
    owners = PathOwners()
    taken = None
    while not stopped.wait(RENAME_POLL_SECONDS):
        due = int(time.time() // interval)
        if due != taken:
            write_census(sources, spool, owners, signing)
            taken = due
        elif renamed := [source for source in sources if owners.have_changed(source)]:
            write_census(renamed, spool, owners, signing)
        elif signing and signing.has_more:
            signing.sign()


def write_census(sources: list[Source], spool: Spool, owners: PathOwners, signing: Any = None) -> bool:
    """Takes a census of these logs, and signs what is new in them; returns False, with the reason on standard
    error, if the write fails."""
    for source in sources:
        owners.remember(source)  # before the census: later changes are detected at the next check
    found = [record for source in sources for record in take_census(source)]
    try:
        for kind in KINDS:
            spool.append(kind, (record for record in found if record.source == kind), time.time())
    except OSError as error:
        report(f"cannot write to {spool.directory}: {error}")
        return False
    if signing:
        signing.after_census(found, set().union(*map(live_paths, sources)))
    return True


def main(arguments: "list[str] | None" = None) -> int:
    """Runs the census. Exit codes: 0 stopped or done, 1 the census of --once could not be written, 2 wrong
    usage."""
    options = _options(arguments)
    if options.create_key:
        return _create_key(options.create_key)
    try:
        if not options.spool:
            raise ConfigurationError("TAILRACE_CENSUS_SPOOL is not set and no --spool given")
        sources = (
            sources_from_file(options.sources) if options.sources else sources_from_environment(os.environ)
        )
        spool = Spool(Path(options.spool))
        signing = _signing(options) if options.key else None
    except ConfigurationError as error:
        report(str(error))
        return 2
    if options.once:
        return 0 if write_census(sources, spool, PathOwners(), signing) else 1
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    run(sources, spool, options.interval, stopped, signing)
    return 0


def _signing(options: argparse.Namespace) -> Any:
    """Returns what signs; imported only here, because without a key the census is this file alone. Raises
    ConfigurationError."""
    try:
        from tailrace_signing.service import Signing

        return Signing(options.host, options.key, Path(options.spool), report, os.environ)
    except (ImportError, OSError, ValueError) as error:
        raise ConfigurationError(f"--key: {error}") from error


def _create_key(file: Path) -> int:
    """Creates a private key and prints its public key. Exit codes: 0 created, 2 not created."""
    try:
        from tailrace_signing import keys

        print(keys.create(file).public_key)
    except (ImportError, OSError, ValueError) as error:
        report(f"--create-key: {error}")
        return 2
    return 0


def _options(arguments: "list[str] | None") -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sources", type=Path, metavar="FILE", help="JSON list of the logs")
    parser.add_argument(
        "--spool",
        type=Path,
        metavar="DIRECTORY",
        default=os.environ.get("TAILRACE_CENSUS_SPOOL"),
        help="directory of the spool files (default: TAILRACE_CENSUS_SPOOL)",
    )
    parser.add_argument("--interval", type=int, default=10, metavar="SECONDS", help="default: 10")
    parser.add_argument("--once", action="store_true", help="take one census and exit")
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        default=Path(key) if (key := os.environ.get("TAILRACE_HOST_KEY")) else None,
        help="sign with this Ed25519 key of the host (default: TAILRACE_HOST_KEY)",
    )
    parser.add_argument(
        "--create-key",
        type=Path,
        metavar="FILE",
        help="create a key of this host, print its public key and exit",
    )
    parser.add_argument(
        "--host",
        metavar="NAME",
        default=os.environ.get("TAILRACE_HOST") or socket.gethostname(),
        help="name of the host in signatures (default: TAILRACE_HOST, or its name)",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
