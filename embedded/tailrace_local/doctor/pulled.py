"""Finds problems with the logs that the component pull reads from a service, and suggests fixes."""

import time
from collections.abc import Iterator, Mapping, Sequence

from tailrace import console
from tailrace.cli.context import Context
from tailrace.programs.pull import PullProgram
from tailrace.sources.pulled_logs import PulledLogState
from tailrace_local.doctor.finding import Finding

GUIDE = "docs/PULL.md"
FIXES: Mapping[str, str] = {
    "permission": f"renew the credentials of the component pull: {GUIDE}#permissions",
    "setting": f"let the server log to a table: {GUIDE}#log-tables",
    "throttled": f"wait, or let other programs of the account ask less: {GUIDE}#limits",
    "gone": f"check the names in the entry in sources.yaml: {GUIDE}#list-the-logs",
    "failed": f"check address and network of the entry in sources.yaml: {GUIDE}#list-the-logs",
}
NEVER = "wait a minute, then: tailrace logs pull"
LATE = "tailrace status; tailrace logs pull"


def states(context: Context) -> Sequence[PulledLogState]:
    """Returns what the puller reported of each listed log. A log that it did not report is unknown."""
    return PullProgram(context.settings, context.home).logs()


def findings(logs: Sequence[PulledLogState], now: float | None = None) -> Iterator[Finding]:
    """Yields a problem for each log that was never read, that was refused, or that is late."""
    now = time.time() if now is None else now
    for log in logs:
        if not log.is_read(now):
            yield Finding(described(log, now), _fix(log))


def described(log: PulledLogState, now: float) -> str:
    """Returns one line without control codes."""
    return console.plain(f"pull: {log.instance} {log.source} {log.log}: {log.description(now)}")


def _fix(log: PulledLogState) -> str:
    if log.right.endswith(";"):
        return f"on the server: {log.right}  {GUIDE}#log-tables"
    if log.right and log.log.startswith("/otlp/"):
        return f"grant the account {log.right} on the topic: {GUIDE}#opentelemetry-collector"
    if log.right:
        return f"add {log.right} to the policy: {GUIDE}#permissions"
    if log.problem:
        return FIXES[log.kind]
    return NEVER if log.visited_at is None else LATE
