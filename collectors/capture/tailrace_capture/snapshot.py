"""Takes a snapshot of one server: each kind of fact separately, so that a denied kind does not hide others.

Envelopes follow schemas/snapshot.schema.json.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

from tailrace_capture import (
    accounts,
    audit,
    digest_histograms,
    digests,
    grants,
    inventory,
    metadata_locks,
    replication,
    server_settings,
)
from tailrace_capture.facts import Fact, in_order
from tailrace_capture.product import Product
from tailrace_capture.server import Server, ServerError
from tailrace_capture.state_file import StateFile

VERSION = 1
FACTS_PER_ENVELOPE = 500
MAX_FACTS = 50_000
"""Maximum number of facts of one kind; further ones are dropped, and the envelope has `truncated`."""

OK = "ok"
START, HOURLY, CHANGE = "start", "hourly", "change"


@dataclass(frozen=True)
class Kind:
    """A kind of facts. `limit`: the maximum number of them."""

    name: str
    read: Callable[[Server], Iterable[Fact]]
    period: str = "change"
    """When it is written in addition to hourly: at each `change`, at each `poll`, at each poll
    without being remembered (`sample`) or never (`full`). Changes are only reported for `change`."""
    limit: int = MAX_FACTS
    read_all: Callable[[Server], Iterable[Fact]] | None = None
    """What a complete snapshot reads, if that is more than a poll."""
    is_optional: bool = False
    """Whether only servers with the key of this name have it."""


KINDS = (
    Kind("server", inventory.read),
    Kind("settings", server_settings.read),
    Kind("audit", audit.read),
    Kind("accounts", accounts.read),
    Kind("roles", accounts.read_roles),
    *(Kind(f"grants_{level}", reader) for level, reader in grants.LEVELS.items()),
    Kind("replication", replication.read),
    Kind("gtid", replication.read_gtids, period="poll"),
    Kind(
        "digests",
        digests.read,
        period="sample",
        limit=digests.MAX_DIGESTS,
        read_all=digests.read_all,
        is_optional=True,
    ),
    Kind(
        "digest_histograms",  # after digests, whose counters it uses
        digest_histograms.read,
        period="sample",
        limit=digests.MAX_DIGESTS,
        read_all=digest_histograms.read_all,
        is_optional=True,
    ),
    Kind(
        "metadata_locks",
        metadata_locks.read,
        period="sample",
        limit=metadata_locks.MAX_WAITS,
        is_optional=True,
    ),
    Kind("table_sizes", inventory.read_table_sizes, period="full", limit=inventory.MAX_TABLES),
)


ALWAYS = tuple(kind for kind in KINDS if not kind.is_optional)
OPTIONAL = tuple(kind.name for kind in KINDS if kind.is_optional)


@dataclass(frozen=True)
class Identity:
    """The names under which a server's facts are stored."""

    cluster: str
    instance: str


@dataclass(frozen=True)
class Snapshot:
    """The result of reading one kind."""

    kind: Kind
    facts: list[Fact]
    status: str = OK
    error: str = ""
    truncated: bool = False
    problem: str = ""
    """The error without its fix."""
    fix: tuple[str, ...] = ()
    """What makes the kind readable, if the server said so: lines of `doctor.finding.Finding`."""

    @property
    def outcome(self) -> str:
        return self.status if self.status == OK else f"{self.status}: {self.error}"


def take_snapshot(server: Server, kind: Kind, full: bool = False) -> Snapshot:
    """Reads one kind; `full`: for a complete snapshot.

    Raises ServerError only if the server is unreachable; other errors are part of the result.
    """
    try:
        read = kind.read_all if full and kind.read_all else kind.read
        found = list(read(server))
    except ServerError as error:
        if error.status == "gone":
            raise
        return Snapshot(kind, [], error.status, str(error), problem=error.problem, fix=error.fix)
    return Snapshot(kind, in_order(found[: kind.limit]), truncated=len(found) > kind.limit)


def envelopes(
    identity: Identity, product: "Product | None", taken: Snapshot, state: StateFile, reason: str, at: float
) -> Iterator[dict[str, object]]:
    """Yields the lines of one snapshot, at least one. All have the same time and the number of lines."""
    known = state.known(taken.kind.name, taken.facts, at)
    reports_changes = taken.status == OK and taken.kind.period == "change"
    changes = (
        [asdict(change) for change in state.changes(taken.kind.name, taken.facts)] if reports_changes else []
    )
    facts = [
        {"key": key, "since": round(each.since, 3), "attributes": each.attributes}
        for key, each in known.items()
    ]
    parts = max(1, -(-max(len(facts), len(changes)) // FACTS_PER_ENVELOPE))
    for part in range(parts):
        chunk = slice(part * FACTS_PER_ENVELOPE, (part + 1) * FACTS_PER_ENVELOPE)
        yield {
            "v": VERSION,
            "at": round(at, 3),
            "cluster": identity.cluster,
            "instance": identity.instance,
            "product": product.name if product else "",
            "version": product.text if product else "",
            "kind": taken.kind.name,
            "reason": reason,
            "status": taken.status,
            "error": taken.error,
            "truncated": taken.truncated,
            "part": part + 1,
            "parts": parts,
            "facts": facts[chunk],
            "changes": changes[chunk],
        }
