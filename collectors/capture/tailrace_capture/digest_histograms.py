"""Reads histograms of the latency of statement digests from Performance Schema of MySQL 8:
`events_statements_histogram_by_digest`.

A histogram is cumulative, as the counters of its digest are. The server searches all digests for each one
that is asked for, so a poll reads the heaviest ones only, and a complete snapshot, once an hour, all of them.
"""

from collections.abc import Container, Iterable, Iterator
from itertools import groupby

from tailrace_capture import digests
from tailrace_capture.digests import Counted, Key
from tailrace_capture.facts import Fact, text
from tailrace_capture.server import Server, ServerError

TABLE = "events_statements_histogram_by_digest"
SEARCHED_DIGESTS = 80_000
"""How many digests a poll may let the server search: about 0.12 CPU-seconds of MySQL 8.0."""
MAX_HEAVIEST = 50
"""The maximum number of digests that a poll reads."""
MAX_KNOWN = 2 * digests.MAX_DIGESTS
"""The number of digests above which those that the last poll did not read are forgotten."""
KEPT_SHARE = 0.8
"""How much of the weight of a digest a poll keeps: the heaviest ones of the last polls stay chosen, so the
intervals between their readings are short."""

READABLE = f"SELECT 1 FROM performance_schema.{TABLE} LIMIT 0"
"""Needs the permission, and costs the server nothing: a poll without a heavy digest reads none."""
NOW = "SELECT UNIX_TIMESTAMP(NOW(6)) AS now"
BUCKETS = (
    "SELECT SCHEMA_NAME AS db, DIGEST AS digest, BUCKET_NUMBER AS bucket, COUNT_BUCKET AS count"
    f" FROM performance_schema.{TABLE} WHERE COUNT_BUCKET > 0"
)
OF_DIGEST = " AND SCHEMA_NAME <=> %s AND DIGEST <=> %s"


class Weights:
    """How heavy the digests of one server were in the last polls."""

    def __init__(self) -> None:
        self.most = 0
        """The largest number of digests that a poll has read."""
        self._weights: dict[Key, float] = {}
        self._timers: dict[Key, int] = {}

    def add(self, counted: Iterable[Counted]) -> None:
        """Adds what each digest spent since the last call, in picoseconds. The first call adds nothing."""
        timers = {each.key: each.timer_ps for each in counted}
        self.most = max(self.most, len(timers))
        kept = {key: KEPT_SHARE * weight for key, weight in self._weights.items()}
        for key, timer in timers.items():
            before = self._timers.get(key, 0 if self._timers else timer)
            kept[key] = kept.get(key, 0) + (timer - before if timer >= before else timer)
        self._weights = {key: weight for key, weight in kept.items() if weight >= 1}
        self._timers = timers if len(self._timers) > MAX_KNOWN else self._timers | timers

    def heaviest(self, among: Container[Key]) -> list[Key]:
        """Returns the digests that a poll reads, the heaviest first."""
        number = min(MAX_HEAVIEST, max(1, SEARCHED_DIGESTS // max(1, self.most)))
        found = [key for key in self._weights if key in among]
        return sorted(found, key=lambda key: -self._weights[key])[:number]


def read(server: Server) -> Iterator[Fact]:
    """Yields the histograms of the digests that were the heaviest in the last polls."""
    first_seen, weights = _state(server)
    for key in weights.heaviest(first_seen):
        yield from _facts(first_seen, _now(server), server.stream(BUCKETS + OF_DIGEST, key))


def read_all(server: Server) -> Iterator[Fact]:
    first_seen, _ = _state(server)
    yield from _facts(first_seen, _now(server), server.stream(BUCKETS))


def _state(server: Server) -> tuple[dict[Key, str], Weights]:
    """Returns when each digest of this poll was first seen, and the weights, which include this poll."""
    if not digests.has_samples(server):
        raise ServerError("absent", 0, "histograms of statements exist in MySQL 8.0 and later only")
    server.rows(READABLE)
    if digests.READ not in server.memory:
        problem = "histograms need the counters of the kind digests (digests: true)"
        raise ServerError("absent", 0, problem, fix=("# the same as for digests",))
    counted: list[Counted] = server.memory[digests.READ]
    weights: Weights = server.memory.setdefault(TABLE, Weights())
    weights.add(counted)
    return {each.key: each.first_seen for each in counted}, weights


def _now(server: Server) -> str:
    (row,) = server.rows(NOW)
    return text(row["now"])


def _facts(first_seen: dict[Key, str], now: str, rows: Iterator[dict[str, object]]) -> Iterator[Fact]:
    """Yields a fact for each digest; the server lists the buckets of a digest one after the other.

    Its `buckets` are `NUMBER:COUNT …`. Bucket 0 ends at 10 µs, and each further one at 10^(1/50) times the
    end of the one before; the last one, 449, has no end (MySQL 8.0, `pfs_histogram.h`).
    """
    for key, found in groupby(rows, key=lambda row: (row["db"], row["digest"])):
        buckets = " ".join(f"{row['bucket']}:{row['count']}" for row in found)
        if key not in first_seen:  # it began after the counters were read
            continue
        digest = text(key[1]) or digests.OTHER
        attributes = {"db": text(key[0]), "digest": digest, "first_seen": first_seen[key]}
        yield Fact(f"{attributes['db']}.{digest}", {**attributes, "server_at": now, "buckets": buckets})
