"""Reads the lines of Grafana Alloy's component database_observability.mysql (1.18.0): pure functions.

A line has NAME="VALUE" pairs, in which Alloy escapes nothing. Names of schemas and users may contain a
quotation mark, and statements contain any text. Therefore a text that is not the last value of the line must
have none, a name must not occur twice, and a text comes after values that are too long for such a name. So a
name of a user or schema adds and replaces no value.
"""

import re
from collections.abc import Mapping, Sequence

PAIR = re.compile(r'([a-z_0-9]+)="([^"\n]*)"(?: |$)')
TEXTS: Mapping[str, Sequence[str]] = {
    "sql_text": (
        *("thread_id", "event_id", "digest", "rows_examined", "rows_sent", "rows_affected", "errors"),
        "elapsed_time",
    ),
    "digest_text": ("parseable", "digest"),
    "create_statement": (),
}
"""Values with any text, and the values before them. The last one of a line, apart from `message_text`."""
TEXT = re.compile(rf'({"|".join(TEXTS)})="')
MESSAGE = '" message_text="'
TRACE_PARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


def parse(line: str) -> Mapping[str, str]:
    """Returns names and values. Raises ValueError, whose message contains no value."""
    found: dict[str, str] = {}
    position = 0
    while position < len(line):
        if text := TEXT.match(line, position):
            if not all(name in found for name in TEXTS[text[1]]):
                raise ValueError(f"its {text[1]} comes before other values")
            found[text[1]] = _last_text(line[text.end() :], text[1])
            break
        pair = PAIR.match(line, position)
        if pair is None:
            raise ValueError("its line has a value with a quotation mark, or is no line of values")
        if pair[1] in found:
            raise ValueError("its line has a value twice")
        found[pair[1]] = pair[2]
        position = pair.end()
    return found


def _last_text(rest: str, name: str) -> str:
    """Returns the text in `rest`. A message of the server may follow a statement. Both may contain any text,
    so nothing shows where the statement ends: it is left out."""
    if not rest.endswith('"'):
        raise ValueError(f"its {name} has no end")
    return "" if name == "sql_text" and MESSAGE in rest else rest[:-1]


def trace_id(parent: str) -> str:
    """Returns the id of the trace in a W3C traceparent; empty if it is none."""
    found = TRACE_PARENT.fullmatch(parent)
    return found[1] if found and found[1].strip("0") else ""
