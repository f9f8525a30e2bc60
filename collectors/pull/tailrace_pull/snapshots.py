"""Writes the records of a log from Performance Schema as snapshots (schemas/snapshot.schema.json).

Each record and each gap is a fact, so that the facts account for every byte of the log.
"""

import json
from collections.abc import Iterator

import msgpack

from tailrace_pull.costs import Cost
from tailrace_pull.log import PulledLog
from tailrace_pull.performance_schema import GAP, PERFORMANCE_SCHEMA
from tailrace_pull.reading import LineRun, Round

TOPIC = "tailrace.snapshots"
VERSION = 1
PULL_COSTS = "pull_costs"
BLOCK_BYTES = 512 << 10
"""Lines of one snapshot."""
FACTS_PER_SNAPSHOT = 500
"""As in snapshots of capture: it limits the memory of the loader, which reads many of them at once."""
Fact = dict[str, object]


def envelopes(log: PulledLog, done: Round) -> Iterator[bytes]:
    """Yields the messages of a visit; none if it found nothing."""
    parts = list(_parts(_facts(log, done)))
    for number, facts in enumerate(parts, 1):
        yield msgpack.packb(_envelope(log, done.at, facts) | {"part": number, "parts": len(parts)})


def of_cost(log: PulledLog, cost: Cost) -> bytes:
    """Returns the message that states what a log cost."""
    numbers = {"requests": cost.requests, "received_bytes": cost.received, "line_bytes": cost.lines}
    attributes = {"source": log.source, "log": log.live_path, "since": f"{cost.since:.3f}"}
    attributes |= {name: str(value) for name, value in numbers.items()}
    fact: Fact = {"key": log.key, "since": round(cost.since, 3), "attributes": attributes}
    return msgpack.packb(_envelope(log, cost.at, [fact]) | {"kind": PULL_COSTS, "part": 1, "parts": 1})


def _envelope(log: PulledLog, at: float, facts: list[Fact]) -> dict[str, object]:
    """The puller does not know product and version of the server."""
    return {
        "v": VERSION,
        "at": round(at, 3),
        "cluster": log.cluster,
        "instance": log.instance,
        "product": "",
        "version": "",
        "kind": PERFORMANCE_SCHEMA,
        "reason": "change",
        "status": "ok",
        "error": "",
        "truncated": False,
        "facts": facts,
        "changes": [],
    }


def _facts(log: PulledLog, done: Round) -> Iterator[tuple[int, Fact]]:
    """Yields the facts with their sizes in bytes, in the order of the log."""
    runs: list[tuple[int, LineRun | None, str, int]] = [(run.offset, run, "", 0) for run in done.runs]
    runs += [(gap.offset, None, gap.reason, gap.size) for gap in done.gaps]
    for offset, run, reason, size in sorted(runs, key=lambda each: each[0]):
        if run is None:
            content = {"tool": "", "kind": GAP, "at": f"{done.at:.6f}", "ignored": reason}
            yield size, _fact(log, done, offset, size, content)
            continue
        for line in run.lines.splitlines(keepends=True):
            yield len(line), _fact(log, done, offset, len(line), json.loads(line))
            offset += len(line)


def _fact(log: PulledLog, done: Round, offset: int, size: int, content: dict[str, str]) -> Fact:
    (file,) = done.state.files
    path = log.path(file)
    place = {"path": path, "file": str(file.number), "offset": str(offset), "bytes": str(size)}
    key = f"{path} {file.number} {offset}"
    return {"key": key, "since": round(done.at, 3), "attributes": content | place}


def _parts(facts: Iterator[tuple[int, Fact]]) -> Iterator[list[Fact]]:
    part: list[Fact] = []
    left = BLOCK_BYTES
    for size, fact in facts:
        size_of_line = 0 if fact["attributes"]["kind"] == GAP else size
        if part and (size_of_line > left or len(part) == FACTS_PER_SNAPSHOT):
            yield part
            part, left = [], BLOCK_BYTES
        part.append(fact)
        left -= size_of_line
    if part:
        yield part
