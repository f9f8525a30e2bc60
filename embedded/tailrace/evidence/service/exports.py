"""Runs exports one after the other, and keeps their state and their bundles."""

import json
import queue
import shutil
import threading
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace import replaced_file
from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence import framework
from tailrace.evidence.period import Period

MAX_WAITING = 5
"""Exports that wait for the running one; more are refused."""
KEPT = 20
"""Ended exports whose state and bundle are kept."""
OTHER_STEPS = 3
"""The steps of an export besides its results: report, proofs and packing."""
INTERRUPTED = "the service stopped during this export; start it again"

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"


class TooManyError(Exception):
    """Too many exports are waiting; the message is shown to the user."""


@dataclass(frozen=True)
class ExportState:
    """One requested export. Times are ISO 8601, UTC."""

    id: str
    framework: str
    period_from: str
    period_to: str
    actor: str
    requested_at: str
    state: str = WAITING
    step: str = ""
    """The last finished step."""
    steps_done: int = 0
    steps: int = 0
    error: str = ""
    warnings: tuple[str, ...] = ()
    file: str = ""
    files: int = 0
    rows: int = 0
    bytes: int = 0
    manifest_sha256: str = ""
    key_fingerprint: str = ""

    @property
    def has_ended(self) -> bool:
        return self.state in (DONE, FAILED)


class Exports:
    """The exports of one installation; their files are in `directory`. Safe to use from several threads."""

    def __init__(
        self,
        directory: Path,
        clickhouse: ClickHouse,
        key: Ed25519PrivateKey,
        log: Callable[[str], None],
        home: Path | None = None,
    ) -> None:
        """`home` is the installation's directory: with its transparency log bundles contain proofs."""
        self._directory = directory
        self._home = home
        self._clickhouse = clickhouse
        self._key = key
        self._log = log
        self._lock = threading.Lock()
        self._waiting: queue.Queue[tuple[str, Period]] = queue.Queue()
        self._states: dict[str, ExportState] = {}
        self._load()
        threading.Thread(target=self._work, daemon=True).start()

    def request(self, name: str, period: Period, actor: str) -> str:
        """Adds an export of a known framework to the queue; returns its id. Raises TooManyError."""
        wanted = ExportState(
            id=uuid.uuid4().hex,
            framework=name,
            period_from=period.first.isoformat(),
            period_to=period.end.isoformat(),
            actor=actor,
            requested_at=datetime.now(UTC).isoformat(),
            steps=len(framework.load(name).results) + OTHER_STEPS,
        )
        with self._lock:
            if sum(state.state == WAITING for state in self._states.values()) >= MAX_WAITING:
                raise TooManyError(f"{MAX_WAITING} exports are waiting; try again when one of them has ended")
            self._store(wanted)
        self._waiting.put((wanted.id, period))
        return wanted.id

    def states(self) -> list[ExportState]:
        """Returns all exports, the latest first."""
        with self._lock:
            return sorted(self._states.values(), key=lambda state: state.requested_at, reverse=True)

    def state(self, number: str) -> ExportState | None:
        with self._lock:
            return self._states.get(number)

    def bundle(self, state: ExportState) -> Path:
        """The file of a successful export."""
        return self._directory / state.id / state.file

    def _load(self) -> None:
        """Reads the states of the last run. Exports that had not ended are failed."""
        for file in self._directory.glob("*/state.json"):
            state = ExportState(**json.loads(file.read_text()))
            if not state.has_ended:
                state = replace(state, state=FAILED, error=INTERRUPTED)
            self._store(state)

    def _store(self, state: ExportState) -> None:
        self._states[state.id] = state
        place = self._directory / state.id
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        replaced_file.write(place / "state.json", json.dumps(asdict(state)))

    def _change(self, number: str, **values: object) -> None:
        with self._lock:
            self._store(replace(self._states[number], **values))

    def _work(self) -> None:
        while True:
            number, period = self._waiting.get()
            try:
                self._export(number, period)
            except Exception as error:  # any other would end the thread: the user sees it, and the next runs
                self._change(number, state=FAILED, error=str(error) or repr(error))
                self._log(f"export {number} failed: {error!r}")
            self._forget_old()

    def _export(self, number: str, period: Period) -> None:
        from tailrace.evidence.export import Exporter  # imports the drawing of PDFs, 0.3 s

        state = self._states[number]
        self._change(number, state=RUNNING)
        file = f"evidence-{state.framework}-{period.first:%Y%m%dT%H%M}-{period.end:%Y%m%dT%H%M}.zip"
        output = self._directory / number / file
        step = partial(self._step, number)
        exporter = Exporter(self._clickhouse, self._key, state.actor, step, self._home)
        done = exporter.export(framework.load(state.framework), period, output)
        self._change(
            number,
            state=DONE,
            warnings=tuple(done.warnings),
            file=file,
            files=done.files,
            rows=done.rows,
            bytes=output.stat().st_size,
            manifest_sha256=done.manifest_sha256,
            key_fingerprint=done.key_fingerprint,
        )
        self._log(f"export {number} of {state.framework} by {state.actor}: manifest {done.manifest_sha256}")

    def _step(self, number: str, step: str) -> None:
        self._change(number, step=step, steps_done=self._states[number].steps_done + 1)

    def _forget_old(self) -> None:
        """Deletes the oldest exports beyond KEPT; the record in ClickHouse remains."""
        for state in [state for state in self.states() if state.has_ended][KEPT:]:
            with self._lock:
                del self._states[state.id]
            shutil.rmtree(self._directory / state.id, ignore_errors=True)
