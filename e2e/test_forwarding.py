"""Events forwarded from Kafka to receivers, with kills of the sender and of the receiver."""

import json
import uuid
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from e2e import event_messages as events
from e2e.delivery_process import WEB_PORT
from e2e.forwarding import ForwardingService
from e2e.limits import LIMIT_SECONDS
from e2e.opensearch_server import OpenSearch
from e2e.s3_server import ACCESS_KEY, REGION, SECRET_KEY, S3Server
from e2e.siem_receivers import Hec, serving
from e2e.stack import wait_until

OPENSEARCH_PORT = WEB_PORT + 40
S3_PORT = WEB_PORT + 44
KINDS = (events.query, events.login, events.write, events.error)


@pytest.fixture
def forwarding(keeping, tmp_path) -> Iterator[ForwardingService]:
    """A channel that no other test uses, so that its group begins with the test."""
    service = ForwardingService(keeping, tmp_path, f"t{uuid.uuid4().hex[:12]}")
    yield service
    service.stop()


def of_all_kinds(numbers: range) -> list[bytes]:
    return [KINDS[number % len(KINDS)](number) for number in numbers]


def ids(numbers: range) -> set[str]:
    return {events.id_of(number) for number in numbers}


def test_every_event_is_indexed_although_the_sender_is_killed_and_the_receiver_loses_a_request(forwarding):
    hec = Hec()
    before, during = range(1, 2001), range(2001, 4001)
    with serving(hec) as url:
        channel = {"kind": "splunk", "url": f"{url}/services/collector/event", "secret_file": "secret"}
        forwarding.configure({**channel, "indexer_ack": True, "ack_timeout": "20s"}, batch_events=250)
        forwarding.start()
        hec.lost = 1
        forwarding.send(of_all_kinds(before))
        wait_until(lambda: len(hec.ids) >= 250, "the first events")
        forwarding.kill()
        forwarding.send([*of_all_kinds(during), events.query(4001, fingerprint="REFUSE ME"), b"no event"])
        forwarding.start()
        wait_until(forwarding.has_caught_up, "all offsets to be committed")
    assert set(hec.ids) == ids(range(1, 4001))
    (message,) = forwarding.refused()
    assert message.key().decode() == events.id_of(4001)
    assert message.value() == events.query(4001, fingerprint="REFUSE ME")
    assert b"Invalid data format" in dict(message.headers())["reason"]
    forwarding.stop()
    assert (forwarding.status()["refused"], forwarding.status()["lag"]) == (1, 0)


def test_another_kafka_gets_only_the_chosen_kinds_with_their_ids_as_keys(forwarding, keeping):
    address = f"127.0.0.1:{keeping.settings.port_kafka}"
    topic = f"mysql.{forwarding.channel}"
    admin = AdminClient({"bootstrap.servers": address})
    # Messages have the times of their events, which are older than the default retention.
    (made,) = admin.create_topics([NewTopic(topic, 1, 1, config={"retention.ms": "-1"})]).values()
    made.result(LIMIT_SECONDS)
    channel = {"kind": "kafka", "brokers": address, "topic": topic, "security": "none"}
    forwarding.configure(channel, kinds=["login", "error"], format="json", batch_events=100)
    forwarding.start()
    forwarding.send(of_all_kinds(range(1, 501)))
    forwarding.kill()
    forwarding.start()
    forwarding.send(of_all_kinds(range(501, 1001)))
    wait_until(forwarding.has_caught_up, "all offsets to be committed")
    forwarding.stop()
    found = forwarding.messages(topic)
    expected = {events.id_of(number) for number in range(1, 1001) if number % len(KINDS) in (1, 3)}
    assert {message.key().decode() for message in found} == expected
    assert {json.loads(message.value())["event_kind"] for message in found} == {"login", "error"}
    assert all(json.loads(message.value())["event_id"] == message.key().decode() for message in found)


@pytest.mark.long
def test_opensearch_stores_every_event_once_although_it_and_the_sender_are_killed(
    forwarding, keeping, tmp_path
):
    (tmp_path / "node").mkdir()
    node = OpenSearch(keeping.settings.cache, tmp_path / "node", OPENSEARCH_PORT)
    index = "logs-tailrace.events-default"
    forwarding.configure(
        {"kind": "elasticsearch", "url": node.url, "index": index, "timeout": f"{LIMIT_SECONDS}s"},
        batch_events=200,
    )
    with node.running():
        node.make_data_streams()
        forwarding.start()
        forwarding.send(of_all_kinds(range(1, 3001)))
        wait_until(lambda: len(node.ids(index)) >= 200, "the first events")
    forwarding.send(of_all_kinds(range(3001, 6001)))
    wait_until(lambda: forwarding.status()["problem"] != "", "a failure without a receiver")
    forwarding.kill()
    with node.running():
        forwarding.start()
        wait_until(lambda: len(node.ids(index)) >= 3500, "more events")
        forwarding.kill()
        forwarding.start()
        wait_until(forwarding.has_caught_up, "all offsets to be committed")
        found = node.ids(index)
        document = node.document(index, events.id_of(1))
    assert len(found) == 6000 and set(found) == ids(range(1, 6001))
    assert document["event"]["id"] == events.id_of(1) and document["user"]["name"] == "app"


@pytest.mark.long
def test_s3_has_every_event_in_complete_objects_although_it_and_the_sender_are_killed(
    forwarding, keeping, tmp_path
):
    (tmp_path / "s3").mkdir()
    (tmp_path / "keys").write_text(f"{ACCESS_KEY}\n{SECRET_KEY}\n")
    server = S3Server(keeping.settings.cache, tmp_path / "s3", S3_PORT)
    channel = {"kind": "s3", "bucket": "lake", "region": REGION, "account_id": "123456789012", "file": "json"}
    channel |= {"url": server.url, "secret_file": "keys", "timeout": f"{LIMIT_SECONDS}s"}
    forwarding.configure(channel, batch_events=200)

    def found() -> list[str]:
        return [document["metadata"]["uid"] for document in server.documents("lake")]

    with server.running():
        server.make_bucket("lake")
        forwarding.start()
        forwarding.send(of_all_kinds(range(1, 3001)))
        wait_until(lambda: len(set(found())) >= 200, "the first events")
    forwarding.send(of_all_kinds(range(3001, 6001)))
    wait_until(lambda: forwarding.status()["problem"] != "", "a failure without a receiver")
    forwarding.kill()
    with server.running():
        forwarding.start()
        wait_until(lambda: len(set(found())) >= 3500, "more events")
        forwarding.kill()
        forwarding.start()
        wait_until(forwarding.has_caught_up, "all offsets to be committed")
        stored = found()
    assert set(stored) == ids(range(1, 6001))
    assert len(stored) <= 6000 + 3 * 4 * 200, "only batches on their way are repeated"
