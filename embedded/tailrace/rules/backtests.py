"""Runs backtests of single rules for the dashboards, one at a time, as processes with limits.

A backtest is `rules backtest` of the command line. It reads ClickHouse as reader_security. The process has
a low priority, a limited heap, no input and no environment, and is killed after MAX_SECONDS.
"""

import json
import re
import shutil
import subprocess
import threading
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailrace import replaced_file

MAX_SECONDS = 1800
MAX_DAYS = 90
MAX_ROWS = 2000
"""Rows of a result that are kept."""
MAX_ERROR = 2000
"""Characters of an error."""
KEPT = 50
"""Ended backtests whose results are kept."""
NICENESS = 10
"""About a tenth of the weight of other processes. With 19 (a seventieth) a backtest of four alerts did not
end within five minutes on two cores with ten busy processes."""
HEAP = ("-XX:+UseSerialGC", "-XX:ActiveProcessorCount=1", "-Xmx512m", "-XX:+ExitOnOutOfMemoryError")
INTERRUPTED = "the service stopped during this backtest; start it again"

RUNNING, DONE, FAILED = "running", "done", "failed"

_RULE = re.compile(r"\w[\w .()-]{0,199}")
"""Ids and names of rules; neither an option nor a path."""


class BacktestRefusedError(Exception):
    """A backtest cannot start; the message is shown to the user."""


@dataclass(frozen=True)
class BacktestState:
    """One requested backtest. Times are ISO 8601, UTC."""

    id: str
    rule: str
    days: int
    actor: str
    requested_at: str
    state: str = RUNNING
    ended_at: str = ""
    error: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Objects of `tailrace rules backtest --output json`."""


@dataclass(frozen=True)
class Reader:
    """How a backtest reads ClickHouse and the rules."""

    jar: Path
    rules: Path
    clickhouse: str
    user: str
    password_file: Path

    def command(self, rule: str, days: int) -> list[str]:
        nice = shutil.which("nice")
        limits = [nice, "-n", str(NICENESS)] if nice else []
        store = ["--clickhouse", self.clickhouse, "--user", self.user, "--password-file", self.password_file]
        words = ["rules", "backtest", rule, "--rules", self.rules, *store, "--since", f"{days}d"]
        command = [*limits, shutil.which("java") or "java", *HEAP, "-jar", self.jar, *words]
        return [str(word) for word in [*command, "--detectors", "", "--output", "json"]]


class Backtests:
    """The backtests of one installation; their results are files in `directory`. Safe to use from threads."""

    def __init__(self, directory: Path, reader: Reader) -> None:
        self._directory = directory
        self._reader = reader
        self._lock = threading.Lock()
        self._states: dict[str, BacktestState] = {}
        self._process: subprocess.Popen | None = None
        self._process_lock = threading.Lock()
        self._is_stopped = False
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in directory.glob("*.json"):
            state = BacktestState(**json.loads(file.read_text()))
            ended = state if state.state != RUNNING else replace(state, state=FAILED, error=INTERRUPTED)
            self._store(ended)

    def start(self, rule: str, days: int, actor: str) -> str:
        """Starts a backtest; returns its id. Raises BacktestRefusedError."""
        if not _RULE.fullmatch(rule):
            raise BacktestRefusedError(f"{rule!r} is not the id of a rule")
        if not 1 <= days <= MAX_DAYS:
            raise BacktestRefusedError(f"a backtest covers 1 to {MAX_DAYS} days, not {days}")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        state = BacktestState(uuid.uuid4().hex, rule, days, actor, now)
        with self._lock:
            if any(each.state == RUNNING for each in self._states.values()):
                raise BacktestRefusedError("another backtest is running; only one runs at a time")
            self._store(state)
        threading.Thread(target=self._run, args=(state,), daemon=True).start()
        return state.id

    def latest(self, rule: str) -> BacktestState | None:
        """Returns the latest backtest of a rule."""
        with self._lock:
            of_rule = [state for state in self._states.values() if state.rule == rule]
        return max(of_rule, key=lambda state: (state.requested_at, state.id), default=None)

    def running(self) -> BacktestState | None:
        with self._lock:
            return next((state for state in self._states.values() if state.state == RUNNING), None)

    def stop(self) -> None:
        """Ends the running process, and lets no other one start."""
        with self._process_lock:
            self._is_stopped = True
            if self._process is not None:
                self._process.kill()

    def _run(self, state: BacktestState) -> None:
        try:
            ended = {"state": DONE, "rows": self._rows(state)}
        except (OSError, ValueError, BacktestRefusedError) as error:
            ended = {"state": FAILED, "error": str(error)[:MAX_ERROR]}
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._lock:
            self._store(replace(state, ended_at=now, **ended))
            self._forget_old()

    def _rows(self, state: BacktestState) -> list[dict[str, Any]]:
        """Runs the process and returns its output. Raises BacktestRefusedError, OSError, ValueError."""
        command = self._reader.command(state.rule, state.days)
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with self._process_lock:
            if self._is_stopped:
                raise BacktestRefusedError(INTERRUPTED)
            process = subprocess.Popen(command, cwd=self._directory, env={}, text=True, **pipes)
            self._process = process
        try:
            output, errors = process.communicate(timeout=MAX_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise BacktestRefusedError(f"the backtest was ended after {MAX_SECONDS // 60} minutes") from None
        if process.returncode:
            raise BacktestRefusedError(errors.strip() or f"ended with {process.returncode}")
        return [json.loads(line) for line in output.splitlines()[:MAX_ROWS]]

    def _store(self, state: BacktestState) -> None:
        self._states[state.id] = state
        replaced_file.write(self._directory / f"{state.id}.json", json.dumps(asdict(state)))

    def _forget_old(self) -> None:
        ended = [state for state in self._states.values() if state.state != RUNNING]
        for state in sorted(ended, key=lambda state: state.requested_at, reverse=True)[KEPT:]:
            del self._states[state.id]
            (self._directory / f"{state.id}.json").unlink(missing_ok=True)


def public(state: BacktestState | None) -> dict[str, Any] | None:
    """Returns a state for an answer in JSON."""
    return None if state is None else asdict(state)


def may_read(audience: str, restrictions: Sequence[str]) -> bool:
    """Whether an audience may read results, which contain the rows that reader_security sees.

    Parameters
    ----------
    restrictions : the audiences that access.yaml restricts
    """
    return audience == "security" or audience not in restrictions
