"""Prints the books for people: aligned tables, what is wrong last, in one sentence each."""

from collections.abc import Iterable, Sized

from tailrace.books import Account, Books, Detail, LogFile
from tailrace.console import BOLD, GREEN, RED, YELLOW, count, duration, heading, size, styled, table

MOST_LINES = 40
"""Of one table; the JSON form has all."""


def show(books: Books) -> None:
    """Prints everything that the books say."""
    _show_files(books)
    _show_unread(books)
    _show_details(books, "DEAD_LETTER", "Dead letters")
    _show_details(books, "FRAMING", "Framing")
    _show_gaps(books)
    _show_minutes(books)
    _show_verdict(books)


def _show_files(books: Books) -> None:
    heading("Log files")
    if not books.accounts:
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
        "duplicate lines",
        "last census",
    )
    table(header, (_file_line(account, books) for account in books.accounts), right=set(header[2:]))


def _file_line(account: Account, books: Books) -> tuple[str, ...]:
    census = _ago(account.census_at, books) if account.census_at else "never"
    return (
        account.file.instance,
        _name(account.file),
        str(account.file.generation),
        size(account.size),
        size(account.accounted),
        _unless_zero(account.pending, size),
        _unless_zero(account.behind, size),
        count(account.entries),
        count(account.events),
        _unless_zero(account.dead_letters, count),
        size(account.framing_bytes),
        _unless_zero(account.gap_bytes, size),
        _unless_zero(account.duplicates, count),
        census + (", aged" if account.aged else ""),
    )


def _ago(moment: float, books: Books) -> str:
    return f"{duration(max(0, books.at.timestamp() - moment))} ago"


def _unless_zero(number: int, form) -> str:
    return form(number) if number else "-"


def _name(file: LogFile) -> str:
    return f"{file.log} ({file.source})" if file.source else file.log


def _show_unread(books: Books) -> None:
    if books.unread:
        heading("Files of which nothing has arrived")
        rows = ((f.instance, f.path, size(f.size)) for f in books.unread)
        _table(("instance", "path", "size"), rows, {"size"})


def _show_details(books: Books, kind: str, title: str) -> None:
    details = [detail for detail in books.details if detail.kind == kind]
    if details:
        heading(title)
        header = ("instance", "log", "generation", "stage", "what", "count", "bytes")
        _table(header, map(_detail_line, details), {"generation", "count", "bytes"})


def _detail_line(detail: Detail) -> tuple[str, ...]:
    file = detail.file
    return (
        file.instance or "-",
        _name(file) or "-",
        str(file.generation),
        detail.stage.lower(),
        detail.detail,
        count(detail.count),
        size(detail.bytes),
    )


def _show_gaps(books: Books) -> None:
    if books.gaps:
        heading("Missing bytes; `tailrace backfill` ships them again while the files still hold them")
        header = ("instance", "log", "generation", "from", "to", "bytes", "kind", "recorded")
        rows = (
            (
                gap.file.instance,
                _name(gap.file),
                str(gap.file.generation),
                count(gap.from_offset),
                count(gap.to_offset),
                size(gap.bytes),
                gap.kind,
                _ago(gap.recorded_at, books),
            )
            for gap in books.gaps
        )
        _table(header, rows, {"generation", "from", "to", "bytes"})


def _show_minutes(books: Books) -> None:
    if books.minutes:
        heading("Minutes (UTC)")
        rows = (
            (
                stretch.instance,
                f"{stretch.log} ({stretch.source})",
                f"{stretch.first:%Y-%m-%d %H:%M}",
                f"{stretch.minutes} min",
                stretch.state,
                size(stretch.grown_bytes),
                _unless_zero(stretch.behind_bytes, size),
                _unless_zero(stretch.missing_bytes, size),
            )
            for stretch in books.minutes
        )
        header = ("instance", "log", "from", "for", "state", "grown", "behind", "missing")
        _table(header, rows, {"for", "grown", "behind", "missing"})


def _show_verdict(books: Books) -> None:
    print()
    if not books.balances:
        print(styled(f"The books do not balance, in {_number(books.imbalances, 'place')}:", RED))
        for wrong in books.imbalances[:MOST_LINES]:
            print(f"  {wrong}")
        _print_rest(len(books.imbalances))
        return
    print(styled("The books balance.", GREEN), _remarks(books))


def _remarks(books: Books) -> str:
    missing = sum(gap.bytes for gap in books.gaps)
    remarks = []
    if missing:
        remarks.append(f"Missing: {size(missing)} in {_number(books.gaps, 'gap')}.")
    if books.behind:
        remarks.append(f"Not read yet: {size(books.behind)}.")
    if unknown := sum(stretch.minutes for stretch in books.minutes if stretch.state == "unknown"):
        remarks.append(f"Unknown: {count(unknown)} minutes of a log.")
    return styled(" ".join(remarks), YELLOW if remarks else BOLD)


def _number(things: Sized, what: str) -> str:
    return f"{count(len(things))} {what}{'' if len(things) == 1 else 's'}"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]], right: set[str]) -> None:
    lines = list(rows)
    table(header, lines[:MOST_LINES], right)
    _print_rest(len(lines))


def _print_rest(number: int) -> None:
    if number > MOST_LINES:
        print(f"  … and {count(number - MOST_LINES)} more; --json has all")
