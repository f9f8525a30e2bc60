"""Polls servers with one thread each: at the start and then periodically; writes changes, and hourly
everything."""

import json
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace_capture import snapshot
from tailrace_capture.dsn import Dsn, DsnError, password_of
from tailrace_capture.product import Product
from tailrace_capture.server import Server, ServerError, connect
from tailrace_capture.snapshot import KINDS, Identity, Kind, Snapshot
from tailrace_capture.spool import Spool
from tailrace_capture.state_file import StateFile

PROGRAM = "tailrace-capture"
STATEMENT_SECONDS = 10.0
AWAY_POLLS = 5
"""The maximum pause, in polls, after which a server that refused the connection is polled again."""

SPOOLED = "snapshots"
FAILED = "failed"


@dataclass(frozen=True)
class Target:
    """A server to poll. `password_file` may be None: then the environment's password is used."""

    identity: Identity
    dsn: Dsn | None
    password_file: Path | None
    fault: str = ""
    """The problem with the address; `dsn` is then None, and other servers are not affected."""
    optional: frozenset[str] = frozenset()
    """The optional kinds that are read from Performance Schema."""

    def has(self, kind: Kind) -> bool:
        return not kind.is_optional or kind.name in self.optional

    def connect(self, statement_seconds: float, program: str) -> Server:
        """Connects. Raises ServerError if the connection fails, DsnError for an invalid address or
        password."""
        if self.dsn is None:
            raise DsnError(self.fault)
        return connect(self.dsn, password_of(self.password_file), statement_seconds, program)


@dataclass(frozen=True)
class Schedule:
    """Intervals in seconds: between two polls, and between two complete snapshots."""

    poll: float = 60
    full: float = 3600


class Watcher:
    """One server. An outage is recorded too: when it begins, and hourly. After it a complete snapshot
    follows."""

    def __init__(self, target: Target, spool: Spool, state_file: StateFile, schedule: Schedule) -> None:
        self.problem = ""
        """The kinds that the last poll could not read; empty if it read everything."""
        self.is_away = False
        """Whether the connection failed."""
        self.polled_at = 0.0
        """The end of the last poll, in seconds since 1970 UTC."""
        self._target = target
        self._spool = spool
        self._state = state_file
        self._schedule = schedule
        self._product: Product | None = None
        self._full_at: float | None = None
        self._memory: dict[str, Any] = {}

    def poll(self, now: float) -> None:
        """Polls once over a new connection, and writes the results.

        Raises OSError if the spool or the state cannot be written.
        """
        is_due = self._full_at is None or now - self._full_at >= self._schedule.full
        full = is_due or self.is_away
        try:
            snapshots = self._snapshots(full)
            away = ""
        except (ServerError, DsnError) as error:
            status = error.status if isinstance(error, ServerError) else FAILED
            away = f"{status}: {error}"
            snapshots, full = [Snapshot(_kind("server"), [], status, str(error))], is_due
        self._write(snapshots, full, now)
        self.is_away = bool(away)
        self.problem = away or "; ".join(
            f"{each.kind.name} {each.outcome}" for each in snapshots if each.error
        )
        self.polled_at = now

    def _snapshots(self, full: bool) -> list[Snapshot]:
        """Returns the snapshot of each kind. Raises ServerError if the connection fails or the server stops
        meanwhile, DsnError."""
        server = self._target.connect(STATEMENT_SECONDS, PROGRAM)
        server.memory = self._memory
        self._product = server.product
        try:
            kinds = [kind for kind in KINDS if (full or kind.period != "full") and self._target.has(kind)]
            return [snapshot.take_snapshot(server, kind, full) for kind in kinds]
        finally:
            server.close()

    def _write(self, snapshots: list[Snapshot], full: bool, now: float) -> None:
        reason = self._reason(full)
        chosen = [each for each in snapshots if full or self._is_new(each)]
        lines = [line for each in chosen for line in self._envelopes(each, reason, now)]
        if lines:
            self._spool.append(lines, now)
            for each in chosen:
                self._store(each, now)
            self._state.save()
        if full:
            self._full_at = now

    def _reason(self, full: bool) -> str:
        if not full:
            return snapshot.CHANGE
        return snapshot.START if self._full_at is None or self.is_away else snapshot.HOURLY

    def _envelopes(self, taken: Snapshot, reason: str, now: float) -> list[dict[str, object]]:
        identity = self._target.identity
        return list(snapshot.envelopes(identity, self._product, taken, self._state, reason, now))

    def _store(self, taken: Snapshot, now: float) -> None:
        is_stored = taken.status == snapshot.OK and taken.kind.period not in ("full", "sample")
        known = self._state.known(taken.kind.name, taken.facts, now) if is_stored else None
        self._state.keep(taken.kind.name, taken.outcome, known)

    def _is_new(self, taken: Snapshot) -> bool:
        if taken.kind.period in ("poll", "sample") or taken.outcome != self._state.outcome(taken.kind.name):
            return True
        return taken.status == snapshot.OK and bool(self._state.changes(taken.kind.name, taken.facts))


def _kind(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


class Service:
    """Polls all servers until it is stopped. The heartbeat file contains each one's last poll and problem as
    JSON."""

    def __init__(
        self, targets: list[Target], spool: Path, state: Path, schedule: Schedule, beat: Path | None = None
    ) -> None:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._schedule = schedule
        self._heartbeat = beat
        self._heartbeat_lock = threading.Lock()
        self._stop = threading.Event()
        files = Spool(spool, SPOOLED)
        self._watchers = {
            target.identity.instance: Watcher(
                target, files, StateFile(state / f"{_file_name(target.identity.instance)}.json"), schedule
            )
            for target in targets
        }

    def stop(self) -> None:
        """Ends `run` after the running polls."""
        self._stop.set()

    def once(self) -> bool:
        """Polls each server once; returns whether all of them could be read completely."""
        for instance, watcher in self._watchers.items():
            self._poll(instance, watcher)
        return not any(watcher.problem for watcher in self._watchers.values())

    def run(self) -> None:
        """Returns when stopped."""
        threads = [
            threading.Thread(target=self._watch, args=pair, name=pair[0]) for pair in self._watchers.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _watch(self, instance: str, watcher: Watcher) -> None:
        polls = 1
        while True:
            self._poll(instance, watcher)
            polls = min(AWAY_POLLS, 2 * polls) if watcher.is_away else 1
            if self._stop.wait(polls * self._schedule.poll):
                return

    def _poll(self, instance: str, watcher: Watcher) -> None:
        before = watcher.problem
        try:
            watcher.poll(time.time())
        except Exception as error:  # otherwise the thread of one server would end unnoticed
            watcher.problem = f"{type(error).__name__}: {error}"
            watcher.is_away = True
        if watcher.problem != before:
            print_status(f"{instance}: {watcher.problem or 'answers to everything'}")
        self._write_heartbeat()

    def _write_heartbeat(self) -> None:
        if self._heartbeat is None:
            return
        heartbeats = {
            instance: {"at": watcher.polled_at, "problem": watcher.problem, "away": watcher.is_away}
            for instance, watcher in self._watchers.items()
        }
        with self._heartbeat_lock:
            write_heartbeat(self._heartbeat, heartbeats)


def write_heartbeat(file: Path, heartbeats: dict[str, dict[str, object]]) -> None:
    """Writes the heartbeat file atomically; a full disk shows as a heartbeat that stops."""
    draft = file.with_name(f"{file.name}.draft")
    try:
        draft.write_text(json.dumps(heartbeats))
        draft.replace(file)
    except OSError as error:
        print_status(f"no heartbeat: {error}")


def _file_name(instance: str) -> str:
    """Returns a valid file name for any instance."""
    return "".join(sign if sign.isalnum() or sign in "-_" else f"%{ord(sign):x}" for sign in instance)


def print_status(line: str) -> None:
    """Writes a line to the log."""
    print(f"{PROGRAM}: {line}", file=sys.stderr, flush=True)
