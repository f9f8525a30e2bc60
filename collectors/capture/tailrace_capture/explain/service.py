"""Explains the heaviest statements of each server, one at a time, and pauses while a server is busy.

Envelopes follow schemas/plan-capture.schema.json.
"""

import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tailrace_capture import snapshot
from tailrace_capture.dsn import DsnError
from tailrace_capture.explain.samples import Sample, Samples, SamplesError
from tailrace_capture.explain.statement import refusal
from tailrace_capture.product import Product
from tailrace_capture.server import Server, ServerError
from tailrace_capture.service import FAILED, Target, print_status, write_heartbeat
from tailrace_capture.service import SPOOLED as SNAPSHOTS
from tailrace_capture.snapshot import Kind, Snapshot
from tailrace_capture.spool import Spool
from tailrace_capture.state_file import StateFile

PROGRAM = "tailrace-explain"
SPOOLED = "explain"
VERSION = 1
OK, REFUSED = "ok", "refused"
MAX_PLAN_BYTES = 12_000_000
"""A larger plan would not fit into one message."""
MAX_PAUSE_SECONDS = 1800
KEPT_SECONDS = 7 * 86_400
"""The time for which the database of a fingerprint is remembered."""
MAX_KEPT = 500
"""The maximum number of these in a query: they are part of a URL."""
REPORT_SECONDS = 3600
"""The interval of reports without a change."""
BUSY = "busy: "
KIND = Kind("explain", lambda server: [], period="full")


@dataclass(frozen=True)
class Limits:
    """Limits of the load on a server. Times in seconds."""

    statements: int = 20
    """Fingerprints in one round."""
    round: float = 60
    """Time between two rounds; doubled while the server is busy or unreachable."""
    interval: float = 3600
    """Time between two plans of one fingerprint."""
    timeout: float = 5
    """Timeout of one EXPLAIN."""
    threads_running: int = 16
    """With more running threads, the server is not queried."""


@dataclass(frozen=True)
class Outcome:
    """The result of a round: `ok`, or one of the other statuses of snapshots, with the reason."""

    status: str
    error: str = ""

    @property
    def problem(self) -> str:
        return f"{self.status}: {self.error}" if self.error else ""


@dataclass(frozen=True)
class Explained:
    """The time of a fingerprint's last EXPLAIN, in seconds since 1970, and its database.

    The database is empty if any other may be used.
    """

    at: float
    database: str = ""


class Explainer:
    """One server. `pause` is the time until the next round."""

    def __init__(self, target: Target, samples: Samples, spool: Spool, state: Path, limits: Limits) -> None:
        self.pause = limits.round
        self.product: Product | None = None
        """Set after the first successful connection."""
        self._target = target
        self._samples = samples
        self._spool = spool
        self._limits = limits
        self._state = state
        self._explained = _loaded(state)

    def round(self, now: float) -> Outcome:
        """Explains the due statements, and returns the result.

        Raises OSError if the spool or the state cannot be written.
        """
        try:
            due = self._due(now)
            problem = self._explain_all(due) if due else ""
            outcome = Outcome(FAILED if problem else OK, problem)
        except (SamplesError, DsnError) as error:
            outcome = Outcome(FAILED, str(error))
        except ServerError as error:
            outcome = Outcome(error.status, str(error))
        problem = outcome.error
        longer = min(MAX_PAUSE_SECONDS, 2 * self.pause)
        self.pause = longer if problem else self._limits.round
        return outcome

    def _due(self, now: float) -> list[Sample]:
        oldest = now - self._limits.interval
        self._explained = {
            key: explained
            for key, explained in self._explained.items()
            if explained.at > min(oldest, now - KEPT_SECONDS)
        }
        asked = self._samples(self._target.identity.instance, self._limits.statements, self._kept())
        recent = {key for key, explained in self._explained.items() if explained.at > oldest}
        return [each for each in asked if each.query_id not in recent]

    def _kept(self) -> dict[str, str]:
        kept = [(key, explained) for key, explained in self._explained.items() if explained.database]
        kept.sort(key=lambda item: item[1].at, reverse=True)
        return {key: explained.database for key, explained in kept[:MAX_KEPT]}

    def _explain_all(self, due: list[Sample]) -> str:
        server = self._target.connect(self._limits.timeout, PROGRAM)
        self.product = server.product
        try:
            _require_limits(server)
            for sample in due:
                running = int(server.status_value("Threads_running") or 0)
                if running > self._limits.threads_running:
                    return f"{BUSY}{running} threads are running"
                if not self._explain(server, sample):
                    return "gone in the middle of an EXPLAIN"
        finally:
            server.close()
        return ""

    def _explain(self, server: Server, sample: Sample) -> bool:
        """Writes one envelope; returns whether the connection is still usable."""
        began = time.time()
        status, error, plan = explained(server, sample)
        self._spool.append([self._envelope(server.product, sample, status, error, plan, began)], began)
        # If the database is dropped or not accessible, another one is used.
        kept = "" if status in ("absent", "denied", "failed") else sample.database
        self._explained[sample.query_id] = Explained(began, kept)
        _save(self._state, self._explained)
        if status == "gone":
            self._kill(server)
        return status != "gone"

    def _kill(self, server: Server) -> None:
        """Kills a statement that outlived the socket's timeout: an account may kill its own statements."""
        try:
            another = self._target.connect(self._limits.timeout, PROGRAM)
        except (ServerError, DsnError):
            return
        try:
            another.execute(f"KILL {server.connection_id}")
        except ServerError:
            return
        finally:
            another.close()

    def _envelope(
        self, product: Product, sample: Sample, status: str, error: str, plan: str, began: float
    ) -> dict[str, object]:
        return {
            "v": VERSION,
            "at": round(began, 3),
            "cluster": self._target.identity.cluster,
            "instance": self._target.identity.instance,
            "product": product.name,
            "version": product.text,
            "database": sample.database,
            "query_id": sample.query_id,
            "status": status,
            "error": error,
            "plan": plan,
            "seconds": round(time.time() - began, 4),
        }


def _require_limits(server: Server) -> None:
    """Refuses a session that could write or run without a timeout. Raises ServerError."""
    product = server.product
    if not product.since(*((10, 4) if product.is_mariadb else (5, 7))):
        raise ServerError("absent", 0, f"{product.text} is too old: its EXPLAIN may run the statement")
    accepted = " ".join(server.limits)
    if "READ ONLY" not in accepted or "_time = " not in accepted:
        raise ServerError("failed", 0, "the session could not be made read-only and limited in time")
    server.execute("SET SESSION sql_mode = ''")


def explained(server: Server, sample: Sample) -> tuple[str, str, str]:
    """Returns status, error and plan of one statement."""
    if why := refusal(sample.statement):
        return REFUSED, why, ""
    try:
        if sample.database:
            server.execute("USE `{}`".format(sample.database.replace("`", "``")))
        rows = server.rows(f"EXPLAIN FORMAT=JSON {sample.statement}")
    except ServerError as error:
        # Errors of the server have a number. Its message may contain a part of the statement.
        return error.status, f"{error.code}: {error}" if error.code else str(error), ""
    plan = str(next(iter(rows[0].values()))) if rows else ""
    if len(plan.encode(errors="backslashreplace")) > MAX_PLAN_BYTES:
        return "failed", f"the plan has more than {MAX_PLAN_BYTES} bytes", ""
    return OK, "", plan


def _loaded(file: Path) -> dict[str, Explained]:
    """Reads time and database of each fingerprint's last EXPLAIN; an unreadable file counts as empty."""
    try:
        return {
            str(key): Explained(float(at), str(database))
            for key, (at, database) in json.loads(file.read_text()).items()
        }
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _save(file: Path, explained: dict[str, Explained]) -> None:
    draft = file.with_name(f"{file.name}.draft")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump({key: (each.at, each.database) for key, each in explained.items()}, out)
    draft.replace(file)


class ExplainService:
    """Explains on all servers, with one thread each, until it is stopped.

    Results of rounds are reported as snapshots of the kind `explain` without facts: after a change, and
    hourly. The heartbeat file has the format of the snapshots' service.
    """

    def __init__(
        self,
        targets: list[Target],
        samples: Samples,
        spool: Path,
        state: Path,
        limits: Limits,
        beat: Path | None = None,
    ) -> None:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        files = Spool(spool, SPOOLED)
        self._snapshots = Spool(spool, SNAPSHOTS)
        self._state = StateFile(state / "looks.json")
        self._heartbeat = beat
        self._heartbeat_lock = threading.Lock()
        self._pulses: dict[str, dict[str, object]] = {}
        self._stop = threading.Event()
        self._targets = {target.identity.instance: target for target in targets}
        self._reported: dict[str, tuple[Outcome, float]] = {}
        self._explainers = {
            target.identity.instance: Explainer(
                target, samples, files, state / f"explain-{number}.json", limits
            )
            for number, target in enumerate(targets)
        }

    def stop(self) -> None:
        """Ends `run` after the running rounds."""
        self._stop.set()

    def once(self) -> bool:
        """Runs one round for each server; returns whether all of them succeeded."""
        outcomes = [self._round(instance) for instance in self._explainers]
        return not any(outcome.error for outcome in outcomes)

    def run(self) -> None:
        """Returns when stopped."""
        threads = [threading.Thread(target=self._watch, args=(name,), name=name) for name in self._explainers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _watch(self, instance: str) -> None:
        while not self._stop.is_set():
            self._round(instance)
            self._stop.wait(self._explainers[instance].pause)

    def _round(self, instance: str) -> Outcome:
        now = time.time()
        try:
            outcome = self._explainers[instance].round(now)
            self._report(instance, outcome, now)
        except Exception as error:  # otherwise the thread of one server would end unnoticed
            outcome = Outcome(FAILED, f"{type(error).__name__}: {error}")
            print_status(f"{instance}: {outcome.problem}")
        self._write_heartbeat(instance, outcome, now)
        return outcome

    def _report(self, instance: str, outcome: Outcome, now: float) -> None:
        before, reported_at = self._reported.get(instance, (Outcome(OK), 0.0))
        if outcome == before and now - reported_at < REPORT_SECONDS:
            return
        if outcome != before:
            print_status(f"{instance}: {outcome.problem or 'explains again'}")
        taken = Snapshot(KIND, [], outcome.status, outcome.error)
        reason = snapshot.HOURLY if outcome == before and reported_at else snapshot.CHANGE
        identity, product = self._targets[instance].identity, self._explainers[instance].product
        self._snapshots.append(snapshot.envelopes(identity, product, taken, self._state, reason, now), now)
        self._reported[instance] = outcome, now

    def _write_heartbeat(self, instance: str, outcome: Outcome, now: float) -> None:
        with self._heartbeat_lock:
            is_away = outcome.status != OK and not outcome.error.startswith(BUSY)
            self._pulses[instance] = {"at": now, "problem": outcome.problem, "away": is_away}
            if self._heartbeat is not None:
                write_heartbeat(self._heartbeat, self._pulses)
