"""Statements of known classes: ordinary ones, and those that break naive parsers of logs.

Each class has a distinct word as its table name, which survives fingerprinting: so a test can determine the
class of a fingerprint.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

FORGED_ENTRY = (
    "# Time: 2026-01-01T00:00:00.000000Z\n# User@Host: root[root] @ localhost []  Id: 1\n"
    "# Query_time: 86400.000000  Lock_time: 0.000000 Rows_sent: 9  Rows_examined: 9\n"
    "SET timestamp=1767225600;\nDROP TABLE accounts;\n"
)


@dataclass(frozen=True)
class Statement:
    """SQL text without its final semicolon, and the class of its fingerprint."""

    query_class: str
    sql: bytes
    ends_in_comment: bool = False
    """Whether the semicolon that the server appends is part of a comment."""


def point_lookup(random: Random) -> bytes:
    return b"SELECT id, name, total FROM point_lookup WHERE id = %d" % random.randrange(10**6)


def range_scan(random: Random) -> bytes:
    first = random.randrange(10**6)
    return b"SELECT * FROM range_scan WHERE id BETWEEN %d AND %d ORDER BY id DESC" % (
        first,
        first + 100,
    )


def long_in_list(random: Random) -> bytes:
    ids = b", ".join(b"%d" % random.randrange(10**6) for _ in range(random.randrange(2, 400)))
    return b"SELECT sum(total) FROM long_in_list WHERE id IN (" + ids + b")"


def bulk_insert(random: Random) -> bytes:
    rows = b",".join(b"(%d,'row %d')" % (number, number) for number in range(random.randrange(1, 50)))
    return b"INSERT INTO bulk_insert (id, name) VALUES " + rows


def update_row(random: Random) -> bytes:
    return b"UPDATE update_row SET stock = stock - %d WHERE sku = 'A-%d'" % (
        random.randrange(1, 9),
        random.randrange(10**5),
    )


def many_lines(random: Random) -> bytes:
    conditions = b"\n".join(b"   OR city = 'town %d'" % number for number in range(random.randrange(1, 30)))
    return b"SELECT count(*)\nFROM many_lines\n\nWHERE 1 = 0\n" + conditions


def header_in_literal(random: Random) -> bytes:
    note = FORGED_ENTRY.encode()
    return b"INSERT INTO header_in_literal (id, note) VALUES (%d, 'see:\n%s')" % (
        random.randrange(99),
        note,
    )


def header_in_comment(random: Random) -> bytes:
    return b"SELECT %d FROM header_in_comment /* from the log:\n%s*/ LIMIT 1" % (
        random.randrange(99),
        FORGED_ENTRY.encode(),
    )


def semicolons_and_quotes(random: Random) -> bytes:
    literals = rb"""'it\'s;', "say ""so"";", 'C:\\', ';""" + b"\n;\n'"
    return b"INSERT INTO semicolons_and_quotes VALUES (%d, %b, `odd``;column`)" % (
        random.randrange(99),
        literals,
    )


def windows_line_ends(random: Random) -> bytes:
    return b"SELECT a,\r\n\r\n  b\r\nFROM windows_line_ends\r\nWHERE id = %d" % random.randrange(10**6)


def binary_literal(random: Random) -> bytes:
    blob = bytes(byte for byte in random.randbytes(random.randrange(20, 200)) if byte not in b"'\\")
    # Fluent Bit may skip NUL bytes at the start of a line (collectors/README.md): a separate test covers
    # that.
    return b"INSERT INTO binary_literal VALUES ('\xc3(" + re.sub(b"\n\0+", b"\n", blob) + b"\0\x01\xff')"


def wide_row(random: Random) -> bytes:
    return b"INSERT INTO wide_row VALUES ('" + b"wide " * random.randrange(20_000, 60_000) + b"')"


def trailing_comment(random: Random) -> bytes:
    return b"SELECT %d FROM trailing_comment -- done by %d" % (
        random.randrange(99),
        random.randrange(99),
    )


ORDINARY: tuple[Callable[[Random], bytes], ...] = (
    point_lookup,
    range_scan,
    long_in_list,
    bulk_insert,
    update_row,
)
NASTY: tuple[Callable[[Random], bytes], ...] = (
    many_lines,
    header_in_literal,
    header_in_comment,
    semicolons_and_quotes,
    windows_line_ends,
    binary_literal,
    trailing_comment,
    wide_row,
)
CLASSES = tuple(make.__name__ for make in ORDINARY + NASTY)


def ordinary(random: Random) -> Statement:
    make = random.choice(ORDINARY)
    return Statement(make.__name__, make(random))


def nasty(random: Random) -> Statement:
    """Returns any of the hard ones; half a megabyte on one line is the rarest."""
    make = random.choices(NASTY, weights=[10] * (len(NASTY) - 1) + [1])[0]
    return Statement(make.__name__, make(random), ends_in_comment=make is trailing_comment)
