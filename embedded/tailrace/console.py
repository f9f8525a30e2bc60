"""Prints steps with times, aligned tables, sizes and durations. The output is plain text without control
codes unless it is a terminal."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import TextIO

from tailrace.plural import counted

BOLD, DIM, RED, YELLOW, GREEN = "1", "2", "31", "33", "32"
GAP = "  "


class Steps:
    """Prints lines such as `  12.4 s  kafka       healthy`, with the seconds since the command began."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._began = time.monotonic()

    def show(self, who: str, what: str) -> None:
        print(f"{self.seconds():7.1f} s  {who:<11} {what}", file=self._out, flush=True)

    def seconds(self) -> float:
        return time.monotonic() - self._began


def has_colours() -> bool:
    """Returns whether the output is a terminal with colours that the user has not turned off."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str) -> str:
    """Returns the text with a colour or weight if the output has colours."""
    return f"\033[{style}m{text}\033[0m" if has_colours() else text


def plain(text: object) -> str:
    """Returns untrusted text on one line and without control codes, which terminals interpret."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in str(text))


def heading(text: str) -> None:
    print(f"\n{styled(text, BOLD)}")


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    right: Iterable[str] = (),
    styles: Mapping[str, Callable[[str], str]] | None = None,
) -> None:
    """Prints rows under a header; columns named in `right` are aligned right.

    `styles` returns, by column, the style of a cell's text; empty for none.
    """
    lines = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(header, *lines, strict=True)]
    flush_right = [name in right for name in header]
    print(styled(_line(_placed(header, widths, flush_right)), DIM))
    for line in lines:
        cells = _placed(line, widths, flush_right)
        for column, style_of in (styles or {}).items():
            index = header.index(column)
            cells[index] = _styled_cell(cells[index], style_of(line[index]))
        print(_line(cells))


def rest(rows: int, limit: int) -> None:
    """Prints how many rows of a list follow the first `limit` that are printed; nothing if none do."""
    if rows > limit:
        print(f"  … and {count(rows - limit)} more; --json has all")


def _placed(cells: Sequence[str], widths: Sequence[int], flush_right: Sequence[bool]) -> list[str]:
    placed = zip(cells, widths, flush_right, strict=True)
    return [cell.rjust(width) if right else cell.ljust(width) for cell, width, right in placed]


def _styled_cell(cell: str, style: str) -> str:
    return styled(cell, style) if style else cell


def _line(cells: Sequence[str]) -> str:
    return f"{GAP}{GAP.join(cells)}".rstrip()


def count(number: int) -> str:
    """1234567 → 1,234,567"""
    return f"{number:,}"


def number(things: Sized, what: str) -> str:
    """Formats a count with its noun: 1 file, 2 files."""
    return counted(len(things), what)


def size(number: float) -> str:
    """Formats bytes in powers of 1000: 900 B, 1.5 kB, 2.3 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(number) < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def duration(seconds: float) -> str:
    """Formats seconds in the two largest units: 3 s, 2 min 5 s, 3 h 4 min, 2 d 1 h."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"
