"""The option `--output`: rows as a table for people, or as JSON or CSV for programs."""

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from tailrace import console

TABLE, JSON, CSV = "table", "json", "csv"
FORMATS = (TABLE, JSON, CSV)

Row = Mapping[str, object]


def add_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--output`, and its short form `--json`. The value is in `arguments.output`."""
    parser.add_argument(
        "--output",
        choices=FORMATS,
        default=TABLE,
        metavar="FORMAT",
        help="form of the output (default: table)",
    )
    parser.add_argument(
        "--json", dest="output", action="store_const", const=JSON, help="the same as --output json"
    )


def write_json(document: object) -> None:
    """Prints JSON and escapes control characters such as C1: JSON allows them, and terminals interpret
    them."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    print("".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text))


def write_csv(keys: Iterable[str], rows: Iterable[Row], out: TextIO | None = None) -> None:
    """Prints a header and one record per row, as RFC 4180 defines it; null is an empty field.

    Keys that the header does not name are left out. A terminal receives no control codes.
    """
    out = out or sys.stdout
    keys = list(keys)
    writer = csv.writer(out)
    writer.writerow(keys)
    for row in rows:
        cells = (_cell(row.get(key)) for key in keys)
        writer.writerow([console.plain(cell) if out.isatty() else cell for cell in cells])


def _cell(value: object) -> str:
    """Lists and objects are JSON in one field."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def known(value: object) -> object:
    """Returns a value, or None for an empty text, which means unknown."""
    return None if value == "" else value
