"""Generated clusters with replication lag and interleaved snapshots: permitted writes are never errant, and
other writes are found once."""

import random
from dataclasses import dataclass, field

import pytest
from seeds import with_seeds

from tailrace.snapshots.errant_transactions import Comparison
from tailrace.snapshots.gtid_sets import GtidSet, joined

ROUNDS = 60
STEPS = 120
Transaction = tuple[int, int]
"""Server and number."""

TOPOLOGIES = {
    "one source": {1: [0], 2: [0]},
    "chain": {1: [0], 2: [1], 3: [2]},
    "pair": {0: [1], 1: [0], 2: [1]},
    "ring": {0: [2], 1: [0], 2: [1], 3: [0], 4: [3]},
    "several sources": {2: [0, 1], 3: [2]},
}
WRITERS = {"one source": [0], "chain": [0], "pair": [0, 1], "ring": [0, 1, 2], "several sources": [0, 1]}


def uuid_of(server: int) -> str:
    return f"{server:08x}-71ca-11e1-9e33-c80aa9429562"


@dataclass
class Database:
    number: int
    sources: list[int]
    has: set[Transaction] = field(default_factory=set)
    written: int = 0

    def write(self) -> Transaction:
        self.written += 1
        self.has.add((self.number, self.written))
        return self.number, self.written

    def gtid_executed(self) -> str:
        of_server: dict[int, list[tuple[int, int]]] = {}
        for server, number in self.has:
            of_server.setdefault(server, []).append((number, number))
        return str(GtidSet({(uuid_of(server), ""): joined(some) for server, some in of_server.items()}))


class Cluster:
    """Databases and their poller."""

    def __init__(self, sources: dict[int, list[int]], writers: list[int], chance: random.Random) -> None:
        everyone = sorted({*sources, *(source for some in sources.values() for source in some)})
        self.databases = [Database(number, sources.get(number, [])) for number in everyone]
        self.writers = writers
        self.comparison = Comparison()
        self.reported: list[tuple[str, str, str]] = []
        """Instance, before and after."""
        self._chance = chance
        self._now = 0.0

    def step(self) -> None:
        """Writes on, applies to or reads a random server."""
        self._now += self._chance.uniform(0, 3)
        database = self._chance.choice(self.databases)
        chosen = self._chance.random()
        if chosen < 0.4:
            self.databases[self._chance.choice(self.writers)].write()
        elif chosen < 0.7:
            self.apply(database)
        else:
            self.read(database)

    def apply(self, database: Database) -> None:
        """Applies some or all of the transactions of each source."""
        for source in database.sources:
            waiting = sorted(self.databases[source].has - database.has)
            database.has |= set(waiting[: self._chance.randint(0, len(waiting))])

    def read(self, database: Database) -> None:
        began = self._now
        self._now += self._chance.uniform(0, 4)
        times = {"read_from": f"{self._now:.3f}", "read_until": f"{self._now:.3f}"}
        channels = [
            {"key": f"channel {source}", "attributes": {"source_uuid": uuid_of(source)}}
            for source in database.sources
        ]
        gtids = {
            "flavour": "mysql",
            "server_uuid": uuid_of(database.number),
            "gtid_executed": database.gtid_executed(),
        }
        for kind, facts in (
            ("replication", [{"key": "role", "attributes": {}}, *channels]),
            ("gtid", [{"key": "gtid", "attributes": {**gtids, **times}}]),
        ):
            self._take(str(database.number), kind, facts, began)

    def _take(self, instance: str, kind: str, facts: list[dict], at: float) -> None:
        whose = {"cluster": "c", "instance": instance, "product": "mysql", "version": "8.4.2"}
        record = {**whose, "kind": kind, "status": "ok", "at": at, "facts": facts}
        for verdict in self.comparison.take(record):
            if verdict.is_new:
                self.reported.append((verdict.member.instance, verdict.before, verdict.errant))

    def settle(self) -> None:
        """Applies everything everywhere and reads every server twice."""
        for _ in self.databases:
            for database in self.databases:
                for source in database.sources:
                    database.has |= self.databases[source].has
        for database in self.databases * 2:
            self._now += 5
            self.read(database)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@with_seeds(ROUNDS)
def test_permitted_writes_are_never_errant(topology, seed):
    cluster = Cluster(TOPOLOGIES[topology], WRITERS[topology], random.Random(seed))
    for _ in range(STEPS):
        cluster.step()
    cluster.settle()

    assert cluster.reported == []


@pytest.mark.parametrize("topology", TOPOLOGIES)
@with_seeds(ROUNDS)
def test_other_writes_are_found_once(topology, seed):
    chance = random.Random(seed)
    cluster = Cluster(TOPOLOGIES[topology], WRITERS[topology], chance)
    others = [each for each in cluster.databases if each.number not in cluster.writers]
    for _ in range(STEPS):
        cluster.step()
    replica = chance.choice(others)
    replica.write()
    for _ in range(STEPS):
        cluster.step()
    cluster.settle()

    assert cluster.reported == [(str(replica.number), "", f"{uuid_of(replica.number)}:1")]
