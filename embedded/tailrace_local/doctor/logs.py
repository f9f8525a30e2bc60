"""Finds problems with the logs that sources.yaml lists, and suggests fixes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tailrace import console
from tailrace.cli.context import Context
from tailrace.clickhouse.client import ClickHouseError
from tailrace.errors import NotRunningError
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger.unknown_logs import UnknownLog
from tailrace.sources import active_sources, log_files, log_fixes, sources_file
from tailrace.sources.log_files import LogState
from tailrace.sources.pulled_logs import PulledLogState
from tailrace.sources.sources_file import Source, SourcesError
from tailrace_local.doctor import pulled
from tailrace_local.doctor.finding import Finding
from tailrace_local.supervisor import control
from tailrace_local.supervisor.control import RefusedError

ASK_SECONDS = 5
Log = TypeVar("Log", LogState, PulledLogState, UnknownLog)


@dataclass
class LogDiagnosis:
    """The list and its problems."""

    file: Path
    logs: list[LogState] = field(default_factory=list)
    pulled: Sequence[PulledLogState] = ()
    """Logs that the component pull reads from a service."""
    findings: list[Finding] = field(default_factory=list)
    is_running: bool = True
    """Whether a stack runs."""

    @property
    def is_of_services(self) -> bool:
        """Whether there are logs, and all are read from a service, which can be asked without a stack."""
        return bool(self.pulled) and not self.logs


def diagnose(context: Context, instance: str = "") -> LogDiagnosis:
    """Checks the active list and the ledger; without a running stack, the list and the files. With
    `instance` it checks the logs of that server only."""
    seen = LogDiagnosis(context.settings.sources, pulled=_of(instance, pulled.states(context)))
    try:
        status = control.status(context.home)
        seen.logs = _of(instance, control.logs(context.home))
        _add_sources_error(seen, status.sources_error)
        seen.findings += [*_file_findings(seen.logs), *pulled.findings(seen.pulled)]
        if status.component("clickhouse"):
            seen.findings += _ledger_findings(context, seen.logs, instance)
    except (NotRunningError, RefusedError):
        _inspect_files(seen, instance)
    return seen


def _of(instance: str, logs: Sequence[Log]) -> list[Log]:
    return [log for log in logs if instance in ("", log.instance)]


def _inspect_files(seen: LogDiagnosis, instance: str) -> None:
    listed: list[Source] = []
    try:
        listed = sources_file.load(seen.file) if seen.file.exists() else []
    except SourcesError as error:
        seen.findings.append(Finding(console.plain(error), f"fix {seen.file}"))
    seen.logs = _of(instance, [log_files.inspect(log) for log in listed])
    seen.findings += _file_findings(seen.logs)
    seen.is_running = False
    if not (instance and seen.is_of_services):
        seen.findings.append(Finding("no stack is running: nothing is watched", log_fixes.NOT_RUNNING))


def _add_sources_error(seen: LogDiagnosis, problem: str) -> None:
    if problem:
        message = f"the previous list stays active: {console.plain(problem)}"
        seen.findings.append(Finding(message, f"fix {seen.file}, then: tailrace up"))


def _file_findings(logs: list[LogState]) -> Iterator[Finding]:
    for log in logs:
        if not log.ok:
            message = console.plain(f"{log.instance} {log.source} {log.path} {log.description}")
            yield Finding(message, log_fixes.ABSENT if log.is_absent else log_fixes.NOT_READABLE)


def _ledger_findings(context: Context, logs: list[LogState], instance: str) -> Iterator[Finding]:
    """Yields logs that exist and have no complete census. Logs without a file are reported elsewhere."""
    absent = {(log.instance, log.source, log.path) for log in logs if not log.ok}
    try:
        unknown = _of(instance, _unknown(context))
    except (ClickHouseError, OSError, NotRunningError) as error:
        yield Finding(f"the ledger cannot be read: {console.plain(error)}", "tailrace status")
        return
    for log in unknown:
        if (log.instance, log.source, log.log) not in absent or log.read_at:
            yield Finding(console.plain(log), log_fixes.INCOMPLETE_CENSUS)


def _unknown(context: Context) -> list[UnknownLog]:
    clickhouse = context.clickhouse("reader_compliance")
    return ledger_balance.unknown_logs(clickhouse, active_sources.active(context.home).since, ASK_SECONDS)
