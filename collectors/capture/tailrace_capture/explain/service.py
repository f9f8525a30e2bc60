"""Explains the heaviest statements of each server, one at a time, and leaves a busy server alone.

Envelopes follow schemas/plan-capture.schema.json.
"""

import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tailrace_capture.dsn import DsnError, Password, password_of
from tailrace_capture.explain.samples import Sample, Samples, SamplesError
from tailrace_capture.explain.statement import refusal
from tailrace_capture.server import Product, Server, ServerError, connect
from tailrace_capture.service import Target, say
from tailrace_capture.spool import Spool

PROGRAM = "tailrace-explain"
SPOOLED = "explain"
VERSION = 1
OK, REFUSED = "ok", "refused"
MOST_PLAN_BYTES = 12_000_000
"""A longer plan would not pass as one message."""
LONGEST_PAUSE_SECONDS = 1800


@dataclass(frozen=True)
class Limits:
    """What a server is asked for at most. Times in seconds."""

    statements: int = 20
    """Fingerprints in one round."""
    round: float = 60
    """Time between two rounds; doubled while the server is busy or away."""
    interval: float = 3600
    """Time between two plans of one fingerprint."""
    timeout: float = 5
    """For one EXPLAIN."""
    threads_running: int = 16
    """More running threads than that: the server is left alone."""


class Explainer:
    """One server. `pause` is the time until the next round."""

    def __init__(self, target: Target, samples: Samples, spool: Spool, state: Path, limits: Limits) -> None:
        self.pause = limits.round
        self._target = target
        self._samples = samples
        self._spool = spool
        self._limits = limits
        self._state = state
        self._explained_at = _loaded(state)

    def round(self, now: float) -> str:
        """Explains what is due; what kept it from doing so, empty for nothing.

        Raises OSError if the spool or the state cannot be written.
        """
        try:
            due = self._due(now)
            problem = self._explain_all(due) if due else ""
        except (SamplesError, DsnError) as error:
            problem = str(error)
        except ServerError as error:
            problem = f"{error.status}: {error}"
        longer = min(LONGEST_PAUSE_SECONDS, 2 * self.pause)
        self.pause = longer if problem else self._limits.round
        return problem

    def _due(self, now: float) -> list[Sample]:
        asked = self._samples(self._target.identity.instance, self._limits.statements)
        oldest = now - self._limits.interval
        self._explained_at = {key: at for key, at in self._explained_at.items() if at > oldest}
        return [each for each in asked if each.query_id not in self._explained_at]

    def _explain_all(self, due: list[Sample]) -> str:
        password = password_of(self._target.password_file)
        server = connect(self._target.dsn, password, self._limits.timeout, PROGRAM)
        try:
            _require_limits(server)
            for sample in due:
                running = int(server.status_value("Threads_running") or 0)
                if running > self._limits.threads_running:
                    return f"busy: {running} threads are running"
                if not self._explain(server, sample, password):
                    return "gone in the middle of an EXPLAIN"
        finally:
            server.close()
        return ""

    def _explain(self, server: Server, sample: Sample, password: Password) -> bool:
        """Writes one envelope; whether the connection can be used on."""
        began = time.time()
        status, error, plan = explained(server, sample)
        self._spool.append([self._envelope(server.product, sample, status, error, plan, began)], began)
        self._explained_at[sample.query_id] = began
        _save(self._state, self._explained_at)
        if status == "gone":
            self._kill(server, password)
        return status != "gone"

    def _kill(self, server: Server, password: Password) -> None:
        """Ends a statement that outlived the socket's timeout: an account may kill what is its own."""
        try:
            another = connect(self._target.dsn, password, self._limits.timeout, PROGRAM)
        except ServerError:
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
    """Nothing is explained in a session that could write or run without end. Raises ServerError."""
    product = server.product
    if not product.since(*((10, 4) if product.is_mariadb else (5, 7))):
        raise ServerError("absent", 0, f"{product.text} is too old: its EXPLAIN may run the statement")
    accepted = " ".join(server.limits)
    if "READ ONLY" not in accepted or "_time = " not in accepted:
        raise ServerError("failed", 0, "the session could not be made read-only and limited in time")
    server.execute("SET SESSION sql_mode = ''")


def explained(server: Server, sample: Sample) -> tuple[str, str, str]:
    """Status, error and plan of one statement."""
    if why := refusal(sample.statement):
        return REFUSED, why, ""
    try:
        if sample.database:
            server.execute("USE `{}`".format(sample.database.replace("`", "``")))
        rows = server.rows(f"EXPLAIN FORMAT=JSON {sample.statement}")
    except ServerError as error:
        return error.status, str(error), ""
    plan = str(next(iter(rows[0].values()))) if rows else ""
    if len(plan.encode(errors="backslashreplace")) > MOST_PLAN_BYTES:
        return "failed", f"the plan has more than {MOST_PLAN_BYTES} bytes", ""
    return OK, "", plan


def _loaded(file: Path) -> dict[str, float]:
    """When each fingerprint was explained last; what cannot be read is forgotten."""
    try:
        return {str(key): float(at) for key, at in json.loads(file.read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _save(file: Path, explained_at: dict[str, float]) -> None:
    draft = file.with_name(f"{file.name}.draft")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(explained_at, out)
    draft.replace(file)


class ExplainService:
    """All servers, one thread each, until stopped."""

    def __init__(
        self, targets: list[Target], samples: Samples, spool: Path, state: Path, limits: Limits
    ) -> None:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        files = Spool(spool, SPOOLED)
        self._stop = threading.Event()
        self._explainers = {
            target.identity.instance: Explainer(
                target, samples, files, state / f"explain-{number}.json", limits
            )
            for number, target in enumerate(targets)
        }

    def stop(self) -> None:
        """Ends `run` after the rounds that are being made."""
        self._stop.set()

    def once(self) -> bool:
        """One round for each server; whether nothing kept it from explaining."""
        problems = [self._round(instance, "") for instance in self._explainers]
        return not any(problems)

    def run(self) -> None:
        """Returns when stopped."""
        threads = [threading.Thread(target=self._watch, args=(name,), name=name) for name in self._explainers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _watch(self, instance: str) -> None:
        problem = ""
        while not self._stop.is_set():
            problem = self._round(instance, problem)
            self._stop.wait(self._explainers[instance].pause)

    def _round(self, instance: str, before: str) -> str:
        try:
            problem = self._explainers[instance].round(time.time())
        except OSError as error:
            problem = f"cannot write: {error}"
        if problem != before:
            say(f"{instance}: {problem or 'explains again'}")
        return problem
