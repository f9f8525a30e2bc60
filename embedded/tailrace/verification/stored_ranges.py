"""Compares the table signed_ranges with the signed ranges of the transparency log."""

import base64
import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from tailrace.clickhouse.client import ClickHouse
from tailrace_verify import check
from tailrace_verify.check import Scope
from tailrace_verify.files_of_hosts import first_byte
from tailrace_verify.findings import Report
from tailrace_verify.leaves import SignedRange
from tailrace_verify.rewinds import Rewinds

CHECK, TABLE = "ClickHouse", "signed_ranges"
QUERY = """
SELECT DISTINCT SHA256(concat(payload, '\\n', key, '\\n', signature)) FROM tailrace.signed_ranges
FORMAT RowBinary
"""
HASH_BYTES = 32


@dataclass(frozen=True)
class _Range:
    leaf: int
    key: str
    sequence: int
    payload: dict[str, object]


def find(
    clickhouse: ClickHouse, ranges: Iterable[SignedRange], scope: Scope, rewound: Rewinds, report: Report
) -> None:
    """Reports signed ranges of the period that the table does not have as they were recorded.

    Raises ClickHouseError, OSError.
    """
    recorded = {_digest(each): each for each in ranges}
    inside = {digest: found for digest, each in recorded.items() if (found := _of_period(each, scope))}
    if not inside:
        return
    answer = io.BytesIO()
    clickhouse.copy(QUERY, answer, {})
    data = answer.getvalue()
    stored = {data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)}
    missing = [each for digest, each in inside.items() if digest not in stored]
    report.counts["signed ranges that are stored"] += len(inside) - len(missing)
    explained = rewound.deleted(TABLE, len(missing)) if missing else None
    for run in _runs(missing):
        first, last = run[0], run[-1]
        place = {
            "table": TABLE,
            "leaf": first.leaf,
            "host": first.payload.get("host"),
            "key": first.key,
            "sequence": first.sequence,
            **{name: first.payload[name] for name in ("path", "to") if name in first.payload},
            **({"from": first_byte(first.payload)} if "from" in first.payload else {}),
        }
        if len(run) == 1:
            what = f"record {first.sequence} is"
        else:
            what = f"records {first.sequence} to {last.sequence} are"
        if explained:
            report.undetermined(CHECK, f"{what} not there after {explained}", **place)
        else:
            report.tampered(CHECK, f"{what} not there as recorded", **place)


def _digest(each: SignedRange) -> bytes:
    signature = base64.b64encode(each.signature).decode()
    text = f"{each.payload}\n{each.key}\n{signature}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _of_period(each: SignedRange, scope: Scope) -> _Range | None:
    """Returns a record that was signed in the period; None of another one, and of one that has no time."""
    try:
        payload = json.loads(each.payload)
        at = datetime.fromtimestamp(payload["at"] / 1e6, UTC)
        sequence = int(payload["sequence"])
    except (ValueError, KeyError, TypeError, OverflowError, OSError):
        return None
    if not check.is_inside(at.strftime(check.FORM), scope):
        return None
    return _Range(each.index, each.key, sequence, payload)


def _runs(missing: Iterable[_Range]) -> Iterator[list[_Range]]:
    """Yields records of a key whose numbers follow each other, together."""
    run: list[_Range] = []
    for each in sorted(missing, key=lambda each: (each.key, each.sequence, each.leaf)):
        if run and (run[-1].key != each.key or each.sequence > run[-1].sequence + 1):
            yield run
            run = []
        run.append(each)
    if run:
        yield run
