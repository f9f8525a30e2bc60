"""What is not seen of the logs that sources.yaml lists, and what to do about each of it."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tailrace import books, console, listing, log_files, sources
from tailrace.clickhouse import ClickHouseError
from tailrace.commands import Context
from tailrace.log_files import LogState
from tailrace.sources import Source, SourcesError
from tailrace.stack import control
from tailrace.stack.control import NotRunningError, RefusedError
from tailrace.unknown import UnknownLog

ASK_SECONDS = 5
WHO_KNOWS = "if it is new on the list, wait a minute; else: tailrace status, tailrace logs census fluentbit"


@dataclass(frozen=True)
class Finding:
    """One thing that is not seen. The texts hold no control codes."""

    message: str
    fix: str

    def to_json(self) -> dict[str, str]:
        return asdict(self)


@dataclass
class Watched:
    """The list and what is not seen of it."""

    file: Path
    logs: list[LogState] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def look(context: Context) -> Watched:
    """Looks at the list in force and asks the books; without a running stack, at the list and the files."""
    seen = Watched(context.settings.sources)
    try:
        status = control.status(context.home)
        seen.logs = control.logs(context.home)
        _add_problem_of_list(seen, status.problem_of_list)
        seen.findings += _of_files(seen.logs)
        if status.part("clickhouse"):
            seen.findings += _of_books(context, seen.logs)
    except (NotRunningError, RefusedError):
        _look_at_files(seen)
    return seen


def _look_at_files(seen: Watched) -> None:
    listed: list[Source] = []
    try:
        listed = sources.load(seen.file) if seen.file.exists() else []
    except SourcesError as error:
        seen.findings.append(Finding(console.plain(error), f"mend {seen.file}"))
    seen.logs = [log_files.look_at(log) for log in listed]
    seen.findings += _of_files(seen.logs)
    seen.findings.append(Finding("no stack is running: nothing is watched", "tailrace up"))


def _add_problem_of_list(seen: Watched, problem: str) -> None:
    if problem:
        message = f"the list that was in force before stays so: {console.plain(problem)}"
        seen.findings.append(Finding(message, f"mend {seen.file}, then: tailrace up"))


def _of_files(logs: list[LogState]) -> Iterator[Finding]:
    for log in logs:
        if not log.ok:
            message = console.plain(f"{log.instance} {log.source} {log.path} {log.says}")
            yield Finding(
                message, "let the collectors' user read it, or take the log off the list if it is not written"
            )


def _of_books(context: Context, logs: list[LogState]) -> Iterator[Finding]:
    """Logs that exist and whose census is incomplete. Logs without a file are reported elsewhere."""
    absent = {(log.instance, log.source, log.path) for log in logs if not log.ok}
    try:
        unknown = _unknown(context)
    except (ClickHouseError, OSError, NotRunningError) as error:
        yield Finding(
            f"the books do not say what was seen: {console.plain(error)}", "tailrace status clickhouse"
        )
        return
    for log in unknown:
        if (log.instance, log.source, log.log) not in absent or log.read_at:
            yield Finding(console.plain(log), WHO_KNOWS)


def _unknown(context: Context) -> list[UnknownLog]:
    clickhouse = context.clickhouse("reader_compliance")
    return books.unknown_logs(clickhouse, listing.taken(context.home).since, ASK_SECONDS)
