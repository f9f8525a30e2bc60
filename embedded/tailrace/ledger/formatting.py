"""Prints the ledger: aligned tables, followed by imbalances and unknown logs, one sentence each."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import PurePath

from tailrace.console import (
    GREEN,
    RED,
    YELLOW,
    count,
    duration,
    heading,
    number,
    plain,
    rest,
    size,
    styled,
    table,
)
from tailrace.ledger.balance import LedgerBalance
from tailrace.ledger.records import Account, CoverageInterval, Detail, Gap, LogFile
from tailrace.ledger.shown_files import MAX_FILES, shown_files
from tailrace.plural import counted

MAX_LINES = 40
"""Maximum number of rows of a table; the JSON form has all."""

NUMBERS = {
    "generation",
    "size",
    "accounted",
    "pending",
    "behind",
    "entries",
    "events",
    "dead letters",
    "framing",
    "missing",
    "duplicates",
    "count",
    "bytes",
    "from offset",
    "to offset",
    "grown",
}


def show(ledger: LedgerBalance) -> None:
    """Prints the ledger. Each log has the shortest name that is unique on its server."""
    _Report(ledger).show()


class _Report:
    def __init__(self, ledger: LedgerBalance) -> None:
        self._ledger = ledger
        self._names = _short_names(account.file for account in ledger.accounts)

    def show(self) -> None:
        self._show_files()
        self._show_unread()
        self._show_details("DEAD_LETTER", "Dead letters")
        self._show_details("FRAMING", "Framing")
        self._show_gaps()
        self._show_minutes()
        self._show_verdict()

    def _show_files(self) -> None:
        heading("Log files")
        if not self._ledger.accounts:
            print("  none yet")
            return
        header = (
            "instance",
            "log",
            "generation",
            "size",
            "accounted",
            "pending",
            "behind",
            "entries",
            "events",
            "dead letters",
            "framing",
            "missing",
            "duplicates",
            "last census",
        )
        shown = shown_files(self._ledger.accounts, _is_settled)
        table(header, map(self._file_line, shown), NUMBERS)
        rest(len(self._ledger.accounts), MAX_FILES)

    def _file_line(self, account: Account) -> Sequence[str]:
        census = self._ago(account.census_at) if account.census_at else "never"
        return (
            *self._place(account.file),
            size(account.size),
            size(account.accounted),
            _unless_zero(account.pending, size),
            _unless_zero(account.behind, size),
            count(account.entries),
            count(account.events),
            _unless_zero(account.dead_letters, count),
            _unless_zero(account.framing_bytes, size),
            _unless_zero(account.gap_bytes, size),
            _unless_zero(account.duplicates, count),
            census + (", aged" if account.aged else ""),
        )

    def _show_unread(self) -> None:
        rows = [(file.instance, file.path, size(file.size)) for file in self._ledger.unread]
        _section("Files without a received byte", ("instance", "path", "size"), rows)

    def _show_details(self, kind: str, title: str) -> None:
        rows = [self._detail_line(detail) for detail in self._ledger.details if detail.kind == kind]
        _section(title, ("instance", "log", "generation", "stage", "what", "count", "bytes"), rows)

    def _detail_line(self, detail: Detail) -> Sequence[str]:
        amounts = (count(detail.count), size(detail.bytes))
        return *self._place(detail.file), detail.stage.lower(), detail.detail, *amounts

    def _show_gaps(self) -> None:
        columns = ("instance", "log", "generation", "from offset", "to offset", "bytes", "kind", "recorded")
        header = (*columns, "cannot be repaired because")
        title = "Missing bytes; `tailrace backfill` ships them again while the files still contain them"
        _section(title, header, map(self._gap_line, self._ledger.gaps))

    def _gap_line(self, gap: Gap) -> Sequence[str]:
        offsets = (count(gap.from_offset), count(gap.to_offset), size(gap.bytes))
        loss = self._ledger.loss(gap) or "-"
        return *self._place(gap.file), *offsets, gap.kind, self._ago(gap.recorded_at), loss

    def _show_minutes(self) -> None:
        header = ("instance", "log", "minutes (UTC)", "state", "grown", "behind", "missing")
        _section("Minutes seen", header, map(self._minutes_line, self._ledger.minutes))

    def _minutes_line(self, interval: CoverageInterval) -> Sequence[str]:
        end = interval.first + timedelta(minutes=interval.minutes)
        file = LogFile(interval.instance, interval.source, interval.log, 0)
        return (
            *self._place(file)[:2],
            f"{interval.first:%Y-%m-%d %H:%M} to {end:%H:%M}",
            interval.state,
            size(interval.grown_bytes),
            _unless_zero(interval.behind_bytes, size),
            _unless_zero(interval.missing_bytes, size),
        )

    def _show_verdict(self) -> None:
        wrong = self._ledger.imbalances
        print()
        if self._ledger.balances:
            remarks = styled(" ".join(self._remarks()), YELLOW)
            print(*filter(None, (self._balance(), remarks)))
            self._show_unknown()
            return
        print(styled(f"The ledger does not balance, in {number(wrong, 'place')}:", RED))
        for place in wrong[:MAX_LINES]:
            print(f"  {place}")
        rest(len(wrong), MAX_LINES)
        self._show_unknown()

    def _balance(self) -> str:
        """Returns the verdict for a ledger without imbalances."""
        if not self._ledger.hold_anything:
            return styled("The ledger is empty.", YELLOW)
        if self._ledger.unknown:
            return styled("The received lines balance; their completeness is unknown.", YELLOW)
        return styled("The ledger balances.", GREEN)

    def _show_unknown(self) -> None:
        logs = self._ledger.unknown
        if not logs:
            return
        print(styled(f"Unknown: {number(logs, 'log')} without a census:", RED))
        for log in logs[:MAX_LINES]:
            last = self._ago(log.census_at) if log.census_at else "never"
            print(f"  {plain(log)}; last census: {last}")
        rest(len(logs), MAX_LINES)
        print("  causes: `tailrace doctor`; contents of their files: `tailrace backfill --dry-run`")

    def _remarks(self) -> Iterable[str]:
        if gaps := self._ledger.gaps:
            yield f"Missing: {size(sum(gap.bytes for gap in gaps))} in {number(gaps, 'gap')}."
        if behind := self._ledger.behind:
            yield f"Unread: {size(behind)}."
        if unknown := sum(s.minutes for s in self._ledger.minutes if s.state == "unknown"):
            yield f"Unknown: {counted(unknown, 'minute')} of logs."

    def _place(self, file: LogFile) -> tuple[str, str, str]:
        """Returns instance, name and generation; a dash if the bytes belong to none."""
        name = self._names.get((file.instance, file.log), file.log)
        return file.instance or "-", name or "-", str(file.generation or "-")

    def _ago(self, moment: float) -> str:
        return f"{duration(max(0, self._ledger.at.timestamp() - moment))} ago"


def _short_names(files: Iterable[LogFile]) -> dict[tuple[str, str], str]:
    """Returns the shortest suffix of each log's path that is unique on its instance."""
    logs: dict[str, set[str]] = {}
    for file in files:
        logs.setdefault(file.instance, set()).add(file.log)
    return {(instance, log): _short_name(log, of_one) for instance, of_one in logs.items() for log in of_one}


def _short_name(log: str, others: set[str]) -> str:
    parts = PurePath(log).parts
    for length in range(1, len(parts)):
        end = parts[-length:]
        if sum(PurePath(other).parts[-length:] == end for other in others) == 1:
            return str(PurePath(*end))
    return log


def _section(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    lines = list(rows)
    if lines:
        heading(title)
        table(header, lines[:MAX_LINES], NUMBERS)
        rest(len(lines), MAX_LINES)


def _is_settled(account: Account) -> bool:
    """Returns whether a census knows the file and every byte was read and is an event or framing."""
    amounts = (account.gap_bytes, account.dead_letters, account.behind, account.pending)
    return bool(account.census_at) and not account.aged and not any(amounts)


def _unless_zero(amount: int, form: Callable[[int], str]) -> str:
    return form(amount) if amount else "-"
