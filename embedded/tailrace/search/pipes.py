"""The words behind `|` as a pipe."""

from collections.abc import Sequence

from tailrace.search import value_types
from tailrace.search.errors import SearchError, unknown
from tailrace.search.fields import BY_NAME, PIPES
from tailrace.search.model import Count, Pipe, Timeline, Top

SHOWN = 10
"""Values of `| top` without a number."""
MOST_VALUES = 1000
DAY_SECONDS = 86_400

Word = tuple[str, int]
"""A word with its position in the text, from 1."""


def parsed(words: Sequence[Word], end: int) -> Pipe:
    """Returns the pipe of these words; `end` is the position behind them. Raises SearchError."""
    if not words:
        raise SearchError(f"expected {', '.join(PIPES)} after `|`, found the end", end)
    (name, at), arguments = words[0], words[1:]
    if name.lower() not in PIPES:
        raise SearchError(unknown("pipe", name, PIPES), at)
    most = {"top": 2, "timeline": 1, "count": 0}[name.lower()]
    if len(arguments) > most:
        text, at = arguments[most]
        raise SearchError(
            f"expected the end after `| {' '.join(word for word, _ in words[: most + 1])}`, found `{text}`",
            at,
        )
    return {"top": _top, "timeline": _timeline, "count": _count}[name.lower()](arguments, end)


def _top(arguments: Sequence[Word], end: int) -> Top:
    if not arguments:
        raise SearchError("expected a field after `| top`", end)
    name, at = arguments[0]
    its = BY_NAME.get(name.lower())
    groups = sorted({field.name for field in BY_NAME.values() if field.has_top})
    if its is None or not its.has_top:
        raise SearchError(unknown("field that `| top` groups by, such as", name, groups), at)
    return Top(its.name, _number(*arguments[1]) if len(arguments) > 1 else SHOWN)


def _number(text: str, at: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= MOST_VALUES):
        raise SearchError(f"expected a number from 1 to {MOST_VALUES}, found `{text}`", at)
    return int(text)


def _timeline(arguments: Sequence[Word], end: int) -> Timeline:
    if not arguments:
        raise SearchError("expected the width of a bar after `| timeline`, such as 5m", end)
    text, at = arguments[0]
    seconds = value_types.span(text)
    if seconds is None:
        raise SearchError(f"expected the width of a bar such as 5m, 1h or 1d, found `{text}`", at)
    return Timeline(seconds)


def _count(arguments: Sequence[Word], end: int) -> Count:
    return Count()
