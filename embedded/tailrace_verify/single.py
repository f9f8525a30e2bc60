"""The proof of one row as one small file: the row, its place in its minute, and the leaf's place in the log.

It is a JSON object: `row` (canonical form), `row_index` and `row_proof` (in the minute), `leaf` (the entry),
`leaf_index` and `leaf_proof` (in the log), and `checkpoint`. Hashes are base64.
"""

import base64
import binascii
import json
from collections.abc import Sequence

from tailrace_verify import leaves, log, merkle, minutes, rows
from tailrace_verify.files import of_mapping
from tailrace_verify.findings import Report
from tailrace_verify.leaves import Leaves
from tailrace_verify.tiles import Tiles
from tailrace_verify.trust import Trust

FORMAT = "tailrace-row-proof"
MAX_BYTES = 1 << 20
CHECK = "proof of a row"


def make(lines: Sequence[bytes], row: bytes, tree: Tiles, index: int, checkpoint: bytes) -> bytes:
    """Returns the proof of one of the rows of leaf `index`. Raises TileError, ValueError if `lines` does not
    contain the row."""
    hashes = sorted(rows.hashes(lines))
    at = hashes.index(merkle.leaf_hash(row))
    entry = tree.entries(index // 256)[index % 256]
    document = {
        "format": FORMAT,
        "row": row.decode("utf-8", "surrogateescape"),
        "row_index": at,
        "row_proof": _encoded(merkle.inclusion(hashes, at)),
        "leaf": entry.decode(),
        "leaf_index": index,
        "leaf_proof": _encoded(tree.inclusion(index)),
        "checkpoint": checkpoint.decode(),
    }
    return json.dumps(document, separators=(",", ":")).encode()


def is_proof(data: bytes) -> bool:
    return data.startswith(b'{"format":"' + FORMAT.encode() + b'"')


def verify(data: bytes, trust: Trust) -> Report:
    """Verifies the proof of one row; the keys of `trust` must be given."""
    report = Report()
    if not trust.log or (trust.needs_witness and not trust.witnesses):
        report.undetermined("keys", "give the keys of the log and of a witness")
    try:
        document = json.loads(data)
        _check(document, trust, report)
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as error:
        report.tampered(CHECK, f"malformed: {error!r}"[:200])
    return report


def _check(document: dict, trust: Trust, report: Report) -> None:
    files = of_mapping({log.CHECKPOINT: document["checkpoint"].encode()})
    found = log.checkpoints(files, trust, report)
    if not found:
        return
    tree, entry, index = found[-1].checkpoint, document["leaf"].encode(), document["leaf_index"]
    proof = _decoded(document["leaf_proof"])
    if not merkle.verify_inclusion(index, tree.size, merkle.leaf_hash(entry), proof, tree.root):
        report.tampered(CHECK, f"the leaf is not entry {index} of the log", leaf=index)
    held = Leaves()
    leaves.add(index, entry, held, report)
    line = json.dumps(
        {"index": document["row_index"], "proof": document["row_proof"], "row": document["row"]}
    )
    for leaf in held.rows.values():
        if minutes.is_proven(line.encode(), leaf):
            report.counts.update(("rows", "leaves"))
            report.about = {
                "origin": tree.origin,
                "leaves": tree.size,
                "cosigned_at": log.shown(found[-1].time) if found[-1].time else None,
                "tables": [leaf.table],
                "minute": leaf.minute,
            }
        else:
            report.tampered(CHECK, "the row is not in its minute", table=leaf.table, minute=leaf.minute)
    if not held.rows:
        report.tampered(CHECK, "the leaf contains no rows", leaf=index)


def _encoded(hashes: Sequence[bytes]) -> list[str]:
    return [base64.b64encode(each).decode() for each in hashes]


def _decoded(hashes: Sequence[str]) -> list[bytes]:
    return [base64.b64decode(each, validate=True) for each in hashes]
