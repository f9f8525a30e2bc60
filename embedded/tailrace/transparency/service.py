"""Extends the log once a minute, and publishes each checkpoint when all witnesses have cosigned it."""

import time
from collections.abc import Callable, Sequence

from tailrace.clickhouse.client import ClickHouseError
from tailrace.errors import ReportedError
from tailrace.transparency.collector import Collector
from tailrace.transparency.log import TransparencyLog
from tailrace.transparency.witnesses import OtherSizeError, Witness, WitnessRefusedError

FAILURES = (ClickHouseError, ReportedError, OSError, ValueError)
INCIDENT = "incident "
WITNESSED = "witnessed "


class RolledBackError(WitnessRefusedError):
    """This log is older than one that a witness has cosigned: its directory was restored or replaced."""


class Service:
    """One log, its entries and its witnesses. `report` writes a line of the process's log."""

    def __init__(
        self,
        log: TransparencyLog,
        collector: Collector,
        witnesses: Sequence[Witness],
        report: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._log, self._collector, self._witnesses = log, collector, witnesses
        self._report, self._clock = report, clock
        self._is_confirmed = False
        self.problem = ""

    def step(self) -> bool:
        """Appends new entries and publishes a checkpoint; returns whether more can be appended at once.

        A failure is reported and becomes `problem`, in one sentence.
        """
        try:
            is_complete = self._extend()
            self.publish()
            self._say("")
        except FAILURES as error:
            self._say(str(error))
            return False
        return not is_complete

    def _extend(self) -> bool:
        """Returns whether all entries are appended. Before the first append the witnesses confirm the state:
        a log that was restored from a backup must not grow into another one."""
        if not self._is_confirmed:
            self.publish()
            self._is_confirmed = True
        batch = self._collector.collect()
        if batch.entries or batch.values:
            self._log.append(batch)
        return batch.is_complete

    def publish(self) -> None:
        """Publishes the checkpoint of the current tree. Raises WitnessError, OSError."""
        signed = self._log.signed()
        lines = [self._cosignature(witness, signed) for witness in self._witnesses]
        self._log.publish(signed + "".join(lines).encode())
        self._log.store.set({"published_at": self._clock()})

    def _cosignature(self, witness: Witness, signed: bytes) -> str:
        name = f"{WITNESSED}{witness.key.name}"
        old = self._log.store.get(name, 0)
        try:
            line = self._ask(witness, old, signed)
        except WitnessRefusedError as error:
            self._record(str(error))
            raise
        self._log.store.set({name: self._log.size})
        return line

    def _ask(self, witness: Witness, old: int, signed: bytes) -> str:
        try:
            return witness.cosign(old, self._log.consistency(old), signed)
        except OtherSizeError as error:
            size = error.size
        if size > self._log.size:
            raise RolledBackError(
                f"{witness.key.name} has cosigned {size} leaves, and this log has only {self._log.size}: "
                "its directory is older than its last checkpoint"
            )
        if size < old:
            self._record(
                f"the state of {witness.key.name} went back from {old} to {size} leaves: it no longer knows"
                " the checkpoints that it cosigned between them"
            )
        return witness.cosign(size, self._log.consistency(size), signed)

    def _record(self, text: str) -> None:
        """Stores an incident, once: it stays in the status until an operator has acknowledged it."""
        known = self._log.store.values(INCIDENT)
        if text not in (each["text"] for each in known.values()):
            at = self._clock()
            self._log.store.set({f"{INCIDENT}{at:.6f}": {"at": at, "text": text}})
            self._report(f"incident: {text}")

    def _say(self, problem: str) -> None:
        if problem and problem != self.problem:
            self._report(problem)
        elif self.problem and not problem:
            self._report(f"works again: {self._log.size} leaves")
        self.problem = problem
