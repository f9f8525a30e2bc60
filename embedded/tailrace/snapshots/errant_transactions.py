"""Finds errant transactions of a replica, which none of its sources ever had, by comparing GTID sets.

Servers are polled one after the other, and a replica applies new transactions of its sources meanwhile. So a
reading of a replica is compared only with readings of its sources that began after it had ended. These
contain every transaction that the replica can have received. If a source is not polled, or is in another
cluster, the result is unknown.

Sources are the servers of the replica's channels (several, with multi-source replication), their sources in
turn, and with group replication the members of the group. A server that is among its own sources, as in a
ring or a pair, may write: its transactions reach the others later. The same applies to a group, under the
group's name. The nodes of a Galera cluster are not compared at all.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

from tailrace.clickhouse.client import Row
from tailrace.snapshots import gtid_sets
from tailrace.snapshots.gtid_sets import GtidError, GtidSet, Transactions

KIND = "errant"
SKEW_SECONDS = 2.0
"""The maximum clock difference between two machines that poll servers."""
READINGS_KEPT = 10
MAX_SET = 4000
"""Maximum number of printed characters of a set."""
_GROUP = ("group_replication_group_name", "group_replication_view_change_uuid")
_NONE = ("", "0", "AUTOMATIC", "automatic")
_ON = ("ON", "1", "YES")


@dataclass(frozen=True)
class Reading:
    """The transactions of a server between two times, in seconds since 1970 UTC; `at` is the snapshot's
    time."""

    at: float
    began: float
    ended: float
    transactions: Transactions


@dataclass(frozen=True)
class Channel:
    """The source of a replication channel: its UUID, or its server id if there is none."""

    uuid: str
    server_id: str

    def is_from(self, member: "Member") -> bool:
        if self.uuid and member.uuid:
            return self.uuid == member.uuid
        return bool(self.server_id) and self.server_id == member.server_id


@dataclass
class Member:
    """The last known state of one server."""

    cluster: str
    instance: str
    product: str = ""
    version: str = ""
    uuid: str = ""
    server_id: str = ""
    channels: frozenset[Channel] = frozenset()
    is_writable: bool = True
    group: str = ""
    """The name of its replication group."""
    shared: frozenset[str] = frozenset()
    """The UUIDs under which members of the group write."""
    is_galera: bool = False
    readings: list[Reading] = field(default_factory=list)
    """Readings, the newest last."""
    had: Transactions | None = None
    """All transactions of all its readings: RESET MASTER does not remove them."""
    evaluated: float = 0.0
    """The end of the last evaluated reading."""
    errant: str = ""
    """The errant transactions of that reading."""
    since: float = 0.0
    """Since when exactly these transactions are errant."""
    began: float = 0.0
    """Since when any transaction is errant."""

    def learn_role(self, attributes: Mapping[str, str]) -> None:
        locks = (attributes.get("read_only", ""), attributes.get("super_read_only", ""))
        self.is_writable = not any(lock.upper() in _ON for lock in locks)

    def learn_channel(self, attributes: Mapping[str, str]) -> None:
        if attributes.get("channel", "").startswith("group_replication_"):
            return  # internal channels of group replication
        named = (attributes.get("source_uuid", ""), attributes.get("source_server_id", ""))
        self.channels |= {Channel(*(_unless_none(name) for name in named))}

    def learn_transactions(self, attributes: Mapping[str, str], at: float) -> None:
        """Reads the transactions. A set in the format of a later version is not compared."""
        self.uuid, self.server_id = (
            _unless_none(attributes.get(name, "")) for name in ("server_uuid", "server_id")
        )
        self.group = attributes.get(_GROUP[0], "").lower()
        self.shared = frozenset(_unless_none(attributes.get(name, "")).lower() for name in _GROUP) - {""}
        self.is_galera = attributes.get("wsrep_on", "").upper() in _ON
        try:
            transactions = gtid_sets.parse(attributes.get("flavour", ""), attributes)
            times = (float(attributes.get(name) or at) for name in ("read_from", "read_until"))
            reading = Reading(at, *times, transactions)
        except GtidError:
            return
        self.readings = [*self.readings, reading][-READINGS_KEPT:]
        is_comparable = isinstance(self.had, type(transactions))
        self.had = self.had.union(transactions) if is_comparable else transactions

    def passes_on(self) -> Transactions:
        """The transactions that its replicas may have from it. Only for a member that was read."""
        return self.had.without_start() if self.channels else self.had

    def read_since(self) -> float:
        """The start of its newest reading."""
        return self.readings[-1].began if self.readings else 0.0


def _unless_none(text: str) -> str:
    return "" if text in _NONE else text


@dataclass(frozen=True)
class Verdict:
    """The result of a reading of a replica. Times are seconds since 1970 UTC."""

    member: Member
    source: str
    """The instances that it was compared with."""
    at: float
    """The time of the evaluated snapshot."""
    since: float
    """Since when exactly these are errant."""
    began: float
    """Since when any were errant."""
    errant: str
    """Empty for none."""
    count: int
    before: str
    """The errant transactions of the previous snapshot."""

    @property
    def is_new(self) -> bool:
        return self.errant != self.before

    @property
    def attributes(self) -> dict[str, str]:
        """Returns the attributes of the stored fact."""
        count = str(self.count)
        return {"source": self.source, "gtids": self.errant, "count": count, "began": f"{self.began:.3f}"}


class Comparison:
    """All servers of all clusters. Call `restore` with the results of an earlier process, then `take` with
    each snapshot in order."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}

    def restore(self, rows: list[Row]) -> None:
        """Restores rows of server_facts_current of the kinds gtid, replication and errant; times in
        seconds."""
        for row in rows:
            member = self._member(str(row["cluster"]), str(row["instance"]))
            attributes = row["attributes"]
            if row["kind"] == KIND:
                member.errant, member.since = attributes["gtids"], float(row["since"])
                member.began = float(attributes.get("began") or member.since)
            else:
                facts = [{"key": row["key"], "attributes": attributes}]
                _learn(member, str(row["kind"]), facts, float(row["last_seen"]))

    def take(self, record: Mapping) -> list[Verdict]:
        """Returns the verdicts of a snapshot for its server and for the replicas of that server."""
        if record["status"] != "ok" or record["kind"] not in ("gtid", "replication"):
            return []
        member = self._member(record["cluster"], record["instance"])
        member.product, member.version = record["product"], record["version"]
        if record["kind"] == "replication":
            member.channels = frozenset()
        _learn(member, record["kind"], record["facts"], float(record["at"]))
        return list(self._verdicts(member.cluster)) if record["kind"] == "gtid" else []

    def _member(self, cluster: str, instance: str) -> Member:
        member = self._members.setdefault(instance, Member(cluster, instance))
        member.cluster = cluster
        return member

    def _verdicts(self, cluster: str) -> Iterator[Verdict]:
        members = [each for each in self._members.values() if each.cluster == cluster]
        for member in members:
            if member.readings and member.readings[-1].ended > member.evaluated:
                verdict = _evaluated(member, members)
                if verdict is not None:
                    yield verdict


def _learn(member: Member, kind: str, facts: list[Mapping], at: float) -> None:
    for fact in facts:
        attributes = fact["attributes"]
        if kind == "gtid":
            member.learn_transactions(attributes, at)
        elif fact["key"].startswith("channel"):
            member.learn_channel(attributes)
        else:
            member.learn_role(attributes)


def _evaluated(replica: Member, members: list[Member]) -> Verdict | None:
    """Evaluates the replica's newest reading that precedes readings of all its sources; None without a new
    one."""
    peers = [each for each in members if _is_peer(each, replica)]
    if not replica.channels and (not peers or replica.is_writable):
        return _over(replica) if replica.errant else None
    sources = _direct_sources(replica, members)
    if replica.is_galera or sources is None or any(_has_no_identifiers(each) for each in sources):
        return None
    sources += [each for each in peers if each.is_writable and each not in sources]
    until = min((each.read_since() for each in sources), default=0.0) - SKEW_SECONDS
    readings = [each for each in replica.readings if replica.evaluated < each.ended <= until]
    if not readings or not all(_writes_alike(readings[-1].transactions, each) for each in sources):
        return None
    return _verdict(
        replica, sources, readings[-1], _errant(replica, readings[-1], [*sources, *peers], members)
    )


def _errant(replica: Member, reading: Reading, sources: list[Member], members: list[Member]) -> Transactions:
    had = reading.transactions
    all_sources, are_all_known = _with_their_sources(
        [*sources, *_followed_before(replica, sources, members)], members
    )
    is_in_ring = replica in all_sources or (replica.is_writable and not are_all_known)
    sets = [each.passes_on() for each in all_sources if _writes_alike(had, each)]
    return reduce(lambda left, each: left.minus(each), sets, _candidates(replica, had, is_in_ring))


def _followed_before(replica: Member, sources: list[Member], members: list[Member]) -> list[Member]:
    """Returns other members of the groups that it replicates from: its transactions may be from any of
    them."""
    return [
        each
        for source in sources
        if source.group != replica.group
        for each in members
        if _is_peer(each, source) and each.readings
    ]


def _has_no_identifiers(source: Member) -> bool:
    """Returns whether it is MySQL without gtid_mode: a replica may assign its own identifiers to transactions
    from it (ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS, from 8.0.23)."""
    return isinstance(source.had, GtidSet) and not source.had


def _writes_alike(had: Transactions, member: Member) -> bool:
    """Returns whether the member's identifiers have the same format."""
    return isinstance(member.had, type(had))


def _is_peer(member: Member, replica: Member) -> bool:
    return member is not replica and bool(replica.group) and member.group == replica.group


def _direct_sources(replica: Member, members: list[Member]) -> list[Member] | None:
    """Returns the direct sources; None if one of them is unknown: its transactions would look errant."""
    found = [
        [each for each in members if each is not replica and channel.is_from(each)]
        for channel in replica.channels
    ]
    if not all(found):
        return None
    return list({each.instance: each for some in found for each in some}.values())


def _with_their_sources(sources: Iterable[Member], members: list[Member]) -> tuple[list[Member], bool]:
    """Returns the sources with their sources, recursively, and whether all of them are known. In a ring the
    replica itself is among them."""
    found: dict[str, Member] = {}
    are_all_known = True
    waiting = list(sources)
    while waiting:
        member = waiting.pop()
        if member.instance not in found:
            found[member.instance] = member
            further = _direct_sources(member, members)
            are_all_known = are_all_known and further is not None
            waiting += further or []
    return list(found.values()), are_all_known


def _candidates(replica: Member, had: Transactions, is_in_ring: bool) -> Transactions:
    """Returns the possibly errant ones. MariaDB reports all transactions that it wrote, not all that it
    has."""
    if isinstance(had, GtidSet):
        return had.without(replica.shared | ({replica.uuid} if is_in_ring else set()))
    return had.written_by(-1 if is_in_ring else int(replica.server_id or -1))


def _over(member: Member) -> Verdict:
    """It is no longer a replica, so none of its transactions is errant."""
    reading = member.readings[-1]
    return _verdict(member, [], reading, type(reading.transactions)({}))


def _verdict(replica: Member, sources: list[Member], reading: Reading, errant: Transactions) -> Verdict:
    before, replica.errant = replica.errant, str(errant)[:MAX_SET]
    replica.evaluated = reading.ended
    if replica.errant != before:
        replica.since = reading.at
    if replica.errant and not before:
        replica.began = reading.at
    names = ", ".join(sorted(each.instance for each in sources))
    return Verdict(
        replica,
        names,
        reading.at,
        replica.since,
        replica.began,
        replica.errant,
        errant.count(),
        before,
    )
