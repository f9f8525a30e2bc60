"""Errant transactions: what a replica has that its source has not, found by comparing their GTID sets.

Servers are looked at one after the other, and a replica applies what its source wrote meanwhile: so a look
at a replica is held only against a later look at its source, which has everything that the replica may have
had by right. A source that is not looked at, or is in another cluster, is compared with nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tailrace.clickhouse import Row
from tailrace.facts import gtid
from tailrace.facts.gtid import GtidError, GtidSet, Transactions

KIND = "errant"
SKEW_SECONDS = 2.0
"""By which the clocks of two machines that look at servers may differ."""
LOOKS_KEPT = 10
LONGEST_SET = 4000
"""Characters of a set that are shown."""


@dataclass
class Member:
    """One server as it was seen last."""

    cluster: str
    instance: str
    product: str = ""
    version: str = ""
    identities: frozenset[str] = frozenset()
    """server_uuid and server_id, by which its replicas name it."""
    sources: frozenset[str] = frozenset()
    """Identities of the servers that it replicates from."""
    looks: list[tuple[float, Transactions]] = field(default_factory=list)
    """Time and what it had, the newest last."""
    judged_at: float = 0.0
    """The look that was judged last."""
    errant: str = ""
    """What was found errant at that look."""
    errant_since: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """What a look at a replica showed. Times are seconds since 1970 UTC."""

    member: Member
    source: str
    """The source's instance."""
    at: float
    """The look that is judged."""
    since: float
    """Since when these are errant."""
    errant: str
    """Empty for none."""
    count: int
    before: str
    """What was found errant at the look before."""

    @property
    def is_new(self) -> bool:
        return self.errant != self.before

    @property
    def attributes(self) -> dict[str, str]:
        """What is stored as the fact's attributes."""
        return {"source": self.source, "gtids": self.errant, "count": str(self.count)}


class Comparison:
    """All servers of all clusters. `restore` what an earlier process found, then `take` each snapshot in
    order."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}

    def restore(self, rows: list[Row]) -> None:
        """Rows of server_facts_current of the kinds gtid, replication and errant; times as seconds."""
        for row in rows:
            member = self._member(str(row["cluster"]), str(row["instance"]))
            attributes = row["attributes"]
            if row["kind"] == KIND:
                member.errant, member.errant_since = attributes["gtids"], float(row["since"])
            else:
                facts = [{"key": row["key"], "attributes": attributes}]
                self._learn(member, str(row["kind"]), facts, float(row["last_seen"]))

    def take(self, record: Mapping) -> list[Verdict]:
        """What a snapshot shows of its server, or of the replicas of it."""
        if record["status"] != "ok" or record["kind"] not in ("gtid", "replication"):
            return []
        member = self._member(record["cluster"], record["instance"])
        member.product, member.version = record["product"], record["version"]
        if record["kind"] == "replication":
            member.sources = frozenset()
        self._learn(member, record["kind"], record["facts"], float(record["at"]))
        return list(self._verdicts(member)) if record["kind"] == "gtid" else []

    def _member(self, cluster: str, instance: str) -> Member:
        return self._members.setdefault(instance, Member(cluster, instance))

    def _learn(self, member: Member, kind: str, facts: list[Mapping], at: float) -> None:
        for fact in facts:
            attributes = fact["attributes"]
            if kind == "gtid":
                self._remember(member, attributes, at)
            elif fact["key"].startswith("channel"):
                named = {attributes.get("source_uuid", ""), attributes.get("source_server_id", "")}
                member.sources |= named - {"", "0"}

    def _remember(self, member: Member, attributes: dict[str, str], at: float) -> None:
        named = {attributes.get("server_uuid", ""), attributes.get("server_id", "")}
        member.identities = frozenset(named - {"", "0"})
        try:
            transactions = gtid.parse(attributes.get("flavour", ""), attributes)
        except GtidError:
            return  # a form of a later version: compared with nothing
        member.looks = [*member.looks, (at, transactions)][-LOOKS_KEPT:]

    def _verdicts(self, source: Member) -> Iterator[Verdict]:
        """The replicas of this server, judged by its newest look."""
        at, has = source.looks[-1] if source.looks else (0.0, GtidSet({}))
        for replica in self._members.values():
            if replica.cluster == source.cluster and replica.sources & source.identities:
                verdict = _judged(replica, source, at, has)
                if verdict is not None:
                    yield verdict


def _judged(replica: Member, source: Member, at: float, has: Transactions) -> Verdict | None:
    """The replica's newest look before the source's; None where there is no new one to judge."""
    looks = [(when, had) for when, had in replica.looks if replica.judged_at < when <= at - SKEW_SECONDS]
    if not looks or not isinstance(looks[-1][1], type(has)):
        return None
    when, had = looks[-1]
    errant = had.minus(has)
    before, replica.errant = replica.errant, str(errant)[:LONGEST_SET]
    replica.judged_at = when
    if replica.errant != before:
        replica.errant_since = when
    return Verdict(
        replica, source.instance, when, replica.errant_since, replica.errant, errant.count(), before
    )
