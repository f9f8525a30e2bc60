"""One of three replicas is cut off: from ZooKeeper, from the other replicas, from both, or from its client.

Relays on loopback (relays.py) are between the servers, and between the servers and ZooKeeper. Bytes stop
without an end of connections, as in a network that loses packets.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pytest
from relays import Relay
from replica_load import (
    NO_ANSWER,
    assert_every_replica_has,
    block,
    is_stored_again,
    refusal,
    rows_of,
    running_load,
)
from replica_servers import Replica, Replicas, wait_until

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

UNKNOWN_STATUS_OF_INSERT = 319
WITHOUT_KEEPER = (242, 319, 999)
"""TABLE_IS_READ_ONLY, UNKNOWN_STATUS_OF_INSERT, KEEPER_EXCEPTION. The client may also give up first,
because the server tries to reconnect."""
HAS_NO_SESSION = "SELECT max(is_session_expired) FROM system.replicas WHERE table = 'query_events'"
"""`is_readonly` follows later: ClickHouse 26.7 tries to reconnect for 30 s for one table after the other."""
COPIES_FAIL = "SELECT count() FROM system.replication_queue WHERE num_tries > 0 OR is_currently_executing"
EVENTS = "SELECT count() FROM tailrace.query_events"


@dataclass(frozen=True)
class Network:
    """The relays of each server, by its name."""

    servers: list[Replica]
    coordinator: dict[str, Relay]
    """To ZooKeeper."""
    parts: dict[str, Relay]
    """From other servers, which ask for parts."""
    clients: dict[str, Relay]

    def cut_parts(self, server: Replica) -> None:
        """Cuts a server off from the other servers, which can still reach each other."""
        self.parts[server.name].cut()
        for each in self.servers:
            if each is not server:
                self.parts[each.name].cut(server.pid)

    def heal(self) -> None:
        for relays in (self.coordinator, self.parts, self.clients):
            for relay in relays.values():
                relay.heal()


@pytest.fixture(scope="module")
def network(three_replicas: Replicas) -> Iterator[Network]:
    """Three replicas that reach each other and ZooKeeper through relays."""
    servers, port = three_replicas.servers, three_replicas.zookeeper.port
    three_replicas.empty_tables()
    three_replicas.await_calm()
    with ExitStack() as stack:
        relays = Network(servers, {}, {}, {})
        for number, each in enumerate(servers, 1):
            each.stop()
            listens = each.settings.port_clickhouse
            each.coordinator, each.announced = f"127.0.2.{number}", f"127.0.1.{number}"
            to_keeper = Relay((each.coordinator, port), ("127.0.0.1", port))
            to_parts = Relay((each.announced, listens), (each.address, listens), three_replicas.processes)
            to_server = Relay((f"127.0.3.{number}", listens), ("127.0.0.1", listens))
            relays.coordinator[each.name] = stack.enter_context(to_keeper)
            relays.parts[each.name] = stack.enter_context(to_parts)
            relays.clients[each.name] = stack.enter_context(to_server)
        three_replicas.revive()
        yield relays
        for each in servers:
            each.stop()
            each.coordinator, each.announced = "127.0.0.1", each.address
    three_replicas.revive()


@pytest.fixture
def replicas(three_replicas: Replicas, network: Network) -> Iterator[Replicas]:
    three_replicas.empty_tables()
    yield three_replicas
    network.heal()


def test_a_replica_without_zookeeper_refuses_inserts_and_answers_readers(replicas, network):
    first, _, third = replicas.servers
    with running_load(lambda: replicas.servers) as load:
        load.await_stored(3, "before the cut")
        network.coordinator[third.name].cut()
        wait_until(lambda: third.number(HAS_NO_SESSION) == 1, "the replica has lost its session")
        refused = block()
        assert refusal(third.writer, refused) in (*WITHOUT_KEEPER, NO_ANSWER)
        load.await_stored(6, "through the others")
        assert 0 < third.number(EVENTS) < first.number(EVENTS)
        network.heal()
        load.await_stored(6, "after the cut")
        load.finish()
    wait_until(lambda: is_stored_again(first.writer, refused), "another replica stores the block")
    assert_every_replica_has(replicas, [*load.rows, *rows_of(refused)])


def test_a_replica_that_reaches_zookeeper_only_gets_no_majority_and_falls_behind(replicas, network):
    first, second, third = replicas.servers
    with running_load(lambda: [first, second]) as load:
        load.await_stored(3, "before the cut")
        network.cut_parts(third)
        waits = block()
        assert refusal(third.writer, waits) == UNKNOWN_STATUS_OF_INSERT
        assert refusal(first.writer, waits) == UNKNOWN_STATUS_OF_INSERT, "only the third has these rows"
        load.await_stored(6, "through the others")
        wait_until(lambda: third.number(COPIES_FAIL) > 0, "the replica waits for parts")
        assert third.number(EVENTS) < first.number(EVENTS) + len(waits)
        network.heal()
        load.await_stored(3, "after the cut")
        load.finish()
    wait_until(lambda: is_stored_again(second.writer, waits), "the block is complete")
    assert_every_replica_has(replicas, [*load.rows, *rows_of(waits)])


def test_a_replica_that_only_its_client_reaches_acknowledges_nothing(replicas, network):
    """Rows that it stored before it lost ZooKeeper are given up by the others, and are stored once."""
    first, second, third = replicas.servers
    with running_load(lambda: [first, second]) as load:
        load.await_stored(3, "before the cut")
        network.cut_parts(third)
        before = block()
        assert refusal(third.writer, before) == UNKNOWN_STATUS_OF_INSERT
        network.coordinator[third.name].cut()
        after = block()
        assert refusal(third.writer, after) in (*WITHOUT_KEEPER, NO_ANSWER)
        wait_until(
            lambda: is_stored_again(first.writer, before),
            "the others store the block that the third has",
        )
        wait_until(
            lambda: is_stored_again(first.writer, after),
            "the others store the block that the third refused",
        )
        assert refusal(third.writer, after) in (*WITHOUT_KEEPER, NO_ANSWER)
        load.await_stored(3, "through the others")
        network.heal()
        load.finish()
    assert_every_replica_has(replicas, [*load.rows, *rows_of(before, after)])


def test_servers_that_are_cut_off_while_a_load_uses_all_of_them(replicas, network):
    third = replicas.servers[2]
    with running_load(lambda: replicas.servers) as load:
        load.await_stored(3, "before the cut")
        network.cut_parts(third)
        network.coordinator[third.name].cut()
        load.await_refusals(3)
        load.await_stored(6, "through the others")
        network.heal()
        load.await_stored(6, "after the cut")
        load.finish()
    assert_every_replica_has(replicas, load.rows)


def test_a_block_whose_answer_is_lost_counts_once(replicas, network):
    first, _, third = replicas.servers
    relay = network.clients[third.name]
    rows = block()
    relay.cut_answers()
    writer = replace(third.writer, url=f"http://127.0.3.3:{third.settings.port_clickhouse}")
    assert refusal(writer, rows, timeout=3) == NO_ANSWER
    wait_until(lambda: first.number(EVENTS) == len(rows), "the server has stored the block")
    assert is_stored_again(first.writer, rows)
    relay.heal()
    assert is_stored_again(third.writer, rows)
    assert_every_replica_has(replicas, rows_of(rows))
