"""Verifies rows against the digests of their minutes.

`rows/TABLE/MINUTE.jsonl` contains the rows of a leaf in canonical form, in ascending order of their leaf
hashes; MINUTE is `20261126T1031Z`, or `20261126T1031Z.2` for part 2. `hashes/TABLE/MINUTE` contains the leaf
hashes, 32 bytes each: with them the row that differs can be named. `proofs/TABLE/MINUTE.jsonl` contains
single rows, each with the proof that it is in the minute.
"""

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from tailrace_verify import merkle, rows
from tailrace_verify.files import Files
from tailrace_verify.findings import Report
from tailrace_verify.leaves import RowsLeaf
from tailrace_verify.plural import counted
from tailrace_verify.rewinds import TABLE as RECORD
from tailrace_verify.rewinds import Rewinds, message

ROWS, HASHES, PROOFS = "rows", "hashes", "proofs"
CHECK = "rows"
NAME = re.compile(
    r"(?:rows|proofs)/([A-Za-z0-9_.]+)/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)Z(?:\.([1-9]\d*))?\.jsonl"
)
Leaves = Mapping[tuple[str, str, int], RowsLeaf]


def file_name(folder: str, table: str, minute: str, part: int = 1) -> str:
    """Returns `rows/query_events/20261126T1031Z.2.jsonl` for minute 2026-11-26T10:31:00Z, part 2."""
    compact = minute[:16].replace("-", "").replace(":", "") + "Z"
    return f"{folder}/{table}/{compact}{f'.{part}' if part > 1 else ''}{'' if folder == HASHES else '.jsonl'}"


def verify(files: Files, leaves: Leaves, report: Report) -> None:
    """Verifies all files of rows and of single rows; the record of rewinds first, which explains others."""
    rewinds = Rewinds()
    names = files.below(ROWS)
    of_record = [name for name in names if name.startswith(f"{ROWS}/{RECORD}/")]
    for name in dict.fromkeys((*of_record, *names)):
        if leaf := _leaf_of(name, leaves, report):
            report.counts["minutes"] += 1
            lines = _check_rows(files, name, leaf, report, rewinds)
            if leaf.table == RECORD:
                rewinds.add(lines)
    for name in files.below(PROOFS):
        if leaf := _leaf_of(name, leaves, report):
            report.counts["minutes"] += 1
            _check_proofs(files, name, leaf, report)


def check_complete(files: Files, leaves: Iterable[RowsLeaf], tables: Iterable[str], report: Report) -> None:
    """Reports the leaves of these tables whose rows are not in the bundle."""
    names, wanted = set(files.names), set(tables)
    for leaf in leaves:
        name = file_name(ROWS, leaf.table, leaf.minute, leaf.part)
        if leaf.table in wanted and leaf.rows and name not in names:
            report.incomplete(
                CHECK, f"{counted(leaf.rows, 'row is', 'rows are')} missing", **_place(name, leaf)
            )


def verify_lines(
    lines: Sequence[bytes],
    leaf: RowsLeaf,
    name: str,
    known: Callable[[], bytes | None],
    report: Report,
    rewinds: Rewinds,
) -> bool:
    """Compares rows in canonical form with their digest, and returns whether they give it; `known` returns
    the leaf hashes, if there are any: only rows that differ need them."""
    found = rows.hashes(lines)
    ordered = sorted(found)
    place = _place(name, leaf)
    if found != ordered:
        at = next(at for at in range(1, len(found)) if found[at] < found[at - 1])
        report.tampered(CHECK, f"row {at + 1} is not at its place", row=at + 1, **place)
    if len(found) == leaf.rows and merkle.root(ordered) == leaf.root:
        report.counts["rows"] += len(found)
        return True
    missing = leaf.rows - len(found)
    if text := rewinds.explanation(leaf, missing):
        report.undetermined(CHECK, message(leaf, missing, text), **place)
    else:
        _locate(found, leaf, known(), place, report)
    return False


def _locate(found: Sequence[bytes], leaf: RowsLeaf, known: bytes | None, place: dict, report: Report) -> None:
    hashes = _known_hashes(leaf, known, place, report)
    if hashes is None:
        report.tampered(
            CHECK,
            f"{counted(len(found), 'row does', 'rows do')} not give the digest "
            f"of {counted(leaf.rows, 'row')}",
            **place,
        )
        return
    missing = Counter(hashes)
    for at, hash_ in enumerate(found, 1):
        if missing[hash_]:
            missing[hash_] -= 1
        else:
            report.tampered(CHECK, f"row {at} was changed or added", row=at, **place)
    for position, hash_ in enumerate(hashes, 1):
        if missing[hash_]:
            missing[hash_] -= 1
            report.tampered(CHECK, f"recorded row {position} is missing or changed", row=position, **place)


def _known_hashes(leaf: RowsLeaf, known: bytes | None, place: dict, report: Report) -> list[bytes] | None:
    """The recorded leaf hashes, if they give the digest."""
    if known is None:
        return None
    hashes = [known[at : at + 32] for at in range(0, len(known), 32)]
    if len(hashes) == leaf.rows and merkle.root(hashes) == leaf.root:
        return hashes
    report.tampered(CHECK, "the hashes of its rows were changed too", **place)
    return None


def _check_rows(files: Files, name: str, leaf: RowsLeaf, report: Report, rewinds: Rewinds) -> Sequence[bytes]:
    """Returns the rows if they are proven."""
    data = files.read(name) or b""
    lines = data.split(b"\n")
    if lines.pop():
        report.tampered(CHECK, "the last row is cut", row=len(lines) + 1, **_place(name, leaf))

    def known() -> bytes | None:
        return files.read(file_name(HASHES, leaf.table, leaf.minute, leaf.part))

    return lines if verify_lines(lines, leaf, name, known, report, rewinds) else ()


def _check_proofs(files: Files, name: str, leaf: RowsLeaf, report: Report) -> None:
    for number, line in enumerate((files.read(name) or b"").splitlines(), 1):
        if is_proven(line, leaf):
            report.counts["rows"] += 1
        else:
            report.tampered(
                CHECK, f"row {number} is not in the digest of its minute", row=number, **_place(name, leaf)
            )


def is_proven(line: bytes, leaf: RowsLeaf) -> bool:
    """Whether a line of `proofs/` proves that its row is in the leaf."""
    try:
        proof = json.loads(line)
        row = proof["row"].encode("utf-8", "surrogateescape")
        hashes = [base64.b64decode(each, validate=True) for each in proof["proof"]]
        index = int(proof["index"])
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        return False
    return merkle.verify_inclusion(index, leaf.rows, merkle.leaf_hash(row), hashes, leaf.root)


def prove(lines: Sequence[bytes], row: bytes) -> bytes:
    """Returns the line of `proofs/` for one of the rows of a minute. Raises ValueError if it is not there."""
    hashes = sorted(rows.hashes(lines))
    index = hashes.index(merkle.leaf_hash(row))
    proof = [base64.b64encode(each).decode() for each in merkle.inclusion(hashes, index)]
    document = {"index": index, "proof": proof, "row": row.decode("utf-8", "surrogateescape")}
    return json.dumps(document, separators=(",", ":")).encode()


def _leaf_of(name: str, leaves: Leaves, report: Report) -> RowsLeaf | None:
    if not (match := NAME.fullmatch(name)):
        report.tampered(CHECK, "no file of rows: expected rows/TABLE/20261126T1031Z.jsonl", file=name)
        return None
    table, year, month, day, hour, minute, part = match.groups()
    moment = f"{year}-{month}-{day}T{hour}:{minute}:00Z"
    if leaf := leaves.get((table, moment, int(part or 1))):
        return leaf
    report.tampered(CHECK, "its rows are in no leaf of the log", file=name, table=table, minute=moment, row=1)
    return None


def _place(name: str, leaf: RowsLeaf) -> dict[str, object]:
    return {"file": name, "table": leaf.table, "minute": leaf.minute, "leaf": leaf.index}
