"""Reads logs from an event hub whose retention deletes messages, which fails, while the puller is killed."""

import dataclasses
import itertools
import json
import random
from collections import Counter
from contextlib import suppress

import pytest
from entries_puller import AZURE_ID, EntriesPuller
from fake_topic import NOW, FakeTopic

from tailrace_pull.check import check
from tailrace_pull.config import Clients, ConfigurationError, Entry
from tailrace_pull.event_hubs import entries_of_message, log_of_hub
from tailrace_pull.object_records import Undecodable, Wanted
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError

SEEDS = 3
LONG_SEEDS = 500


def record(number: int, server: str = "PROD") -> dict:
    """Returns a record of a diagnostic setting, as it is in an event hub."""
    fields = {"query_time": 1, "user_host": "app[app] @ []", "sql_text": f"select {number};"}
    at = {"time": "2026-11-27T10:00:00Z", "resourceId": AZURE_ID + server}
    return {**at, "category": "MySqlSlowLogs", "properties": fields}


def message(*numbers: int) -> bytes:
    return json.dumps({"records": [record(number) for number in numbers]}).encode()


def puller_of(hub: FakeTopic, since: int = 1) -> EntriesPuller:
    return EntriesPuller(log_of_hub(hub, Wanted("slowlog", "prod", ""), since))


@pytest.fixture
def hub() -> FakeTopic:
    return FakeTopic()


def test_an_entry_is_written_as_the_server_would(hub):
    puller = puller_of(hub)
    hub.put(0, message(1))
    puller.visit(NOW)
    assert puller.content == (
        b"# Time: 2026-11-27T10:00:01.000000Z\n# User@Host: app[app] @ []  Id: 0\n"
        b"# Schema: \n# Query_time: 1.000000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
        b"SET timestamp=1795773600;\nselect 1;\n"
    )


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS, LONG_SEEDS))
def test_each_record_is_stored_once_long(seed: int) -> None:
    check_records(seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_record_is_stored_once(seed: int) -> None:
    check_records(seed)


def check_records(seed: int) -> None:
    """Pulls while records arrive, partitions are added, the hub fails, retention deletes messages, and the
    puller is killed. What is not stored was deleted: one byte of a gap for each of these messages."""
    chosen, hub, numbers = random.Random(seed), FakeTopic(), itertools.count(1)
    written: dict[tuple[int, int], list[int]] = {}

    def act() -> None:
        choice, partition = chosen.random(), chosen.choice(list(hub.messages))
        if choice < 0.4:
            content = [next(numbers) for _ in range(chosen.choice((0, 1, 5)))]
            written[partition, len(hub.messages[partition])] = content
            hub.put(partition, message(*content))
        elif choice < 0.45 and seed % 2 and puller.state.memory:  # nothing is known of earlier ones
            hub.delete(partition, len(hub.messages[partition]) - chosen.choice((0, 1, 4)))
        elif choice < 0.47 and len(hub.messages) < 5:
            hub.messages[len(hub.messages)] = []
            hub.first[len(hub.first)] = 0
        elif choice < 0.52:
            raise RemoteError("failed")

    hub.between, puller = act, puller_of(hub)
    for _ in range(80):
        with suppress(RemoteError):
            puller.visit(NOW, chosen.choice((1, 1000, 1 << 20)), is_killed=chosen.random() < 0.2)
    hub.between = lambda: None
    puller.visit_until_read(NOW, 1000)
    stored = Counter(puller.numbers())
    assert max(stored.values()) == 1
    lost = [place for place, content in written.items() if not set(content) <= set(stored)]
    assert all(offset < hub.first[partition] for partition, offset in lost)
    gaps = puller.gap_bytes()
    assert len(lost) <= gaps == puller.content.count(b"\0")
    assert not gaps or seed % 2


def test_messages_that_retention_deleted_unread_are_a_gap_with_its_reason(hub):
    puller = puller_of(hub)
    for number in range(6):
        hub.put(0, message(number))
    puller.visit(NOW, max_bytes=1)
    hub.delete(0, 4)
    puller.visit(NOW)
    assert puller.numbers() == [0, 4, 5]
    assert puller.notes == [
        "partition 0: retention deleted 3 messages from offset 1 before they were read (a byte for each): "
        "a gap of 3 bytes"
    ]
    assert puller.visit(NOW).notes == []


def test_messages_of_a_new_partition_that_were_deleted_unread_are_a_gap(hub):
    puller = puller_of(hub)
    puller.visit(NOW)
    hub.messages[2], hub.first[2] = [], 0
    for number in range(3):
        hub.put(2, message(number))
    hub.delete(2, 2)
    puller.visit(NOW)
    assert (puller.numbers(), puller.gap_bytes()) == ([2], 2)


def test_a_hub_that_was_made_again_is_read_from_its_start(hub):
    puller = puller_of(hub)
    for number in range(3):
        hub.put(0, message(number))
    puller.visit(NOW)
    hub.messages[0] = [(hub.now, message(7))]
    puller.visit(NOW)
    assert puller.numbers() == [0, 1, 2, 7]
    assert "partition 0 ends at offset 1, before the position 3: it is new" in puller.notes[0]


def test_a_first_visit_reads_a_day_or_since_the_given_time(hub):
    hub.now -= 90_000_000
    hub.put(0, message(1))
    hub.now += 90_000_000
    hub.put(0, message(2))
    for since, expected in ((0, [2]), (1, [1, 2]), ((NOW + 1) * 1000, [])):
        puller = puller_of(hub, since)
        puller.visit(NOW)
        assert puller.numbers() == expected
        hub.put(1, message(3))
        puller.visit(NOW)
        assert puller.numbers() == [*expected, 3]
        hub.messages[1].clear()


def test_a_record_that_cannot_be_decoded_is_a_gap_and_the_next_one_is_read():
    bad, broken = {"category": "MySqlSlowLogs"}, b'{"records": ['
    found = list(entries_of_message(json.dumps({"records": [bad, record(1), record(2, "OTHER")]}).encode()))
    assert isinstance(found[0], Undecodable) and found[0].size == len(json.dumps(bad))
    assert [each.log[2] for each in found[1:]] == ["prod", "other"]
    (found,) = entries_of_message(broken)
    assert isinstance(found, Undecodable) and found.size == len(broken)
    assert list(entries_of_message(b"")) == []


def entry(**more: str) -> Entry:
    return Entry("db", "db", "slowlog", "event_hubs", "", "prod", **{"url": "eventhubs://shop/logs", **more})


def test_an_entry_has_the_path_of_its_hub():
    assert entry().log().live_path == "/event_hubs/shop/logs/slowlog"


@pytest.mark.parametrize(
    "more",
    [
        {"url": "eventhubs://shop"},
        {"url": "az://shop/logs"},
        {"endpoint": "https://x:1"},
        {"endpoint": "x:1"},
    ],
)
def test_a_wrong_address_is_refused(more):
    with pytest.raises(ConfigurationError, match="must be"):
        Clients().hub(entry(**more))


def test_a_log_that_azure_does_not_have_is_refused():
    with pytest.raises(ValueError, match="general of db: source must be one of slowlog, audit"):
        dataclasses.replace(entry(), source="general")


@pytest.mark.parametrize("file", ["", "none", "empty"])
def test_a_connection_string_that_is_missing_is_named(monkeypatch, tmp_path, file):
    monkeypatch.delenv("AZURE_EVENT_HUBS_CONNECTION_STRING", raising=False)
    (tmp_path / "empty").touch()
    hub = Clients().hub(entry(connection_file=str(tmp_path / file) if file else ""))
    with pytest.raises(PermissionMissingError, match=file or "AZURE_EVENT_HUBS_CONNECTION_STRING"):
        hub.bounds()


def test_a_hub_that_cannot_be_reached_is_named(monkeypatch):
    monkeypatch.setattr("tailrace_pull.kafka_topic.TIMEOUT_SECONDS", 0.5)
    hub = Clients().hub(entry(endpoint="plaintext://127.0.0.1:1"))
    with pytest.raises(RemoteError, match="hub logs of shop: "):
        hub.bounds()


@pytest.mark.parametrize(
    ("error", "retention", "severity", "text"),
    [
        (None, 7 * 86_400_000, "ok", "keeps messages for 168 h"),
        (None, 3_600_000, "error", "keeps messages for 1.0 h: longer pauses of the puller are gaps"),
        (None, None, "unknown", "does not say how long"),
        (FileGoneError("there is no hub logs of shop"), 0, "error", "there is no hub logs of shop"),
        (PermissionMissingError("the policy lacks Listen", "Listen"), 0, "error", "lacks Listen"),
        (PermissionMissingError("the connection string is refused"), 0, "error", "is refused"),
    ],
)
def test_the_check_names_what_is_missing(hub, error, retention, severity, text):
    def fail() -> None:
        if error:
            raise error

    hub.between, hub.retention, clients = fail, retention, Clients()
    clients.hub = lambda _: hub
    *_, last = check(entry(), clients)
    assert (last.severity, text in last.message) == (severity, True)
    assert "docs/PULL.md#" in last.fix or not error
