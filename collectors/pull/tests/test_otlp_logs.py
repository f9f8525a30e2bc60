"""Reads logs in OTLP from a topic that fails, repeats messages and deletes some, while the puller is
killed."""

import dataclasses
import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from entries_puller import EntriesPuller
from fake_topic import NOW, FakeTopic
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValueList
from otlp_messages import ENTRY, NANOS, entry, message, pairs, record, slow

from tailrace_pull.config import Clients, ConfigurationError, load
from tailrace_pull.object_records import Undecodable
from tailrace_pull.otlp_logs import Attributes
from tailrace_pull.remote import PermissionMissingError, RemoteError
from tailrace_pull.topic_reading import MAX_DIGESTS, LogOfTopic

SEEDS = 3
LONG_SEEDS = 500
MATCH = Attributes.parse("host.name=db-1,log.file.name=slow.log*")
FILE = {"log.file.name": "slow.log"}
READ_AT = NOW * NANOS + 123_456_789
"""In nanoseconds since 1970 UTC."""


def puller_of(topic: FakeTopic, since: int = 1) -> EntriesPuller:
    return EntriesPuller(LogOfTopic(topic, "db-1", MATCH, MATCH.contents, since))


@pytest.fixture
def topic() -> FakeTopic:
    return FakeTopic()


@pytest.mark.parametrize("encoding", ["otlp_proto", "otlp_json"])
def test_lines_of_both_encodings_are_those_of_the_file(topic, encoding):
    topic.put(0, slow(1, 2, encoding=encoding))
    lines = [record(line, FILE) for line in (ENTRY % 3).split("\n")]
    topic.put(0, message("db-1", lines, encoding))
    puller = puller_of(topic)
    puller.visit(NOW)
    assert puller.content.decode() == "".join(ENTRY % number + "\n" for number in (1, 2, 3))
    assert puller.state.files[0].offset == len(puller.content)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS, LONG_SEEDS))
def test_each_record_is_stored_once_long(seed: int) -> None:
    check_records(seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_record_is_stored_once(seed: int) -> None:
    check_records(seed)


class Sender:
    """Sends records in both encodings and repeats messages. The topic fails, is made again or loses
    messages."""

    def __init__(self, seed: int, topic: FakeTopic) -> None:
        self.chosen, self.topic, self._numbers = random.Random(seed), topic, itertools.count(1)
        self.written: dict[tuple[str, int, int], list[int]] = {}
        """The numbers of each message, by topic, partition and offset."""
        self.deleted: set[tuple[str, int, int]] = set()
        self.unreadable = 0
        self.may_lose = False
        """Whether messages may be deleted."""
        self._read_at = 0 if seed % 3 == 2 else READ_AT
        """Without the time of reading, no message can be recognized as a repetition."""
        self._acts = [(30, self._send), (4, self._send_event), (3, self._add), (4, self._fail)]
        self._acts += [(6, self._repeat)] * (self._read_at > 0)
        self._losses = [(4, self._delete)] * (seed % 2) + [(1, self._make_again)] * (seed % 3 == 2)

    def act(self) -> None:
        acts = [*self._acts, *(self._losses if self.may_lose else []), (50, lambda _: None)]
        (act,) = self.chosen.choices([act for _, act in acts], [weight for weight, _ in acts])
        act(self.chosen.choice(list(self.topic.messages)))

    def _put(self, partition: int, value: bytes, content: Sequence[int] = ()) -> None:
        self.written[self.topic.id, partition, len(self.topic.messages[partition])] = list(content)
        self.topic.put(partition, value)

    def _send(self, partition: int) -> None:
        content = [next(self._numbers) for _ in range(self.chosen.choice((0, 1, 5)))]
        encoding = self.chosen.choice(("otlp_proto", "otlp_json"))
        self._put(partition, slow(*content, read_at=self._read_at, encoding=encoding), content)
        self._put(partition, slow(next(self._numbers), host="db-2"))

    def _repeat(self, partition: int) -> None:
        """The exporter did not receive the answer."""
        if messages := self.topic.messages[partition]:
            self._put(self.chosen.choice(list(self.topic.messages)), self.chosen.choice(messages)[1])

    def _send_event(self, partition: int) -> None:
        self.unreadable += 1
        self._put(partition, message("db-1", [record(None, FILE, self.unreadable)]))

    def _add(self, _: int) -> None:
        if (number := len(self.topic.messages)) < 5:
            self.topic.messages[number], self.topic.first[number] = [], 0

    def _fail(self, _: int) -> None:
        raise RemoteError("failed")

    def _delete(self, partition: int) -> None:
        first, end = self.topic.first[partition], len(self.topic.messages[partition])
        end -= self.chosen.choice((0, 1, 4))
        self.deleted.update((self.topic.id, partition, offset) for offset in range(first, end))
        self.topic.delete(partition, end)

    def _make_again(self, _: int) -> None:
        self.deleted.update(place for place in self.written if place[0] == self.topic.id)
        sizes = {number: len(messages) for number, messages in self.topic.messages.items()}
        self.topic.make_again(f"{self.topic.id}+")
        for number, size in sizes.items():  # then no offset shows that it is another topic
            for _ in range(size // 2 + 2):
                self._send(number)


def check_records(seed: int) -> None:
    """Pulls while the sender and the topic act, and the puller is killed. Each record is stored once. What is
    not stored was deleted, and then there is a gap."""
    topic = FakeTopic()
    topic.id, sender, puller = "a", Sender(seed, topic), puller_of(topic)
    topic.between = sender.act
    for _ in range(60):
        with suppress(RemoteError):
            puller.visit(NOW, sender.chosen.choice((1, 1000, 1 << 20)), sender.chosen.random() < 0.2)
        sender.may_lose = bool(puller.state.memory)  # nothing is known of messages before the first visit
    topic.between = lambda: None
    puller.visit_until_read(NOW, 1000)
    stored = Counter(puller.numbers())
    assert max(stored.values()) == 1
    lost = {place for place, content in sender.written.items() if not set(content) <= set(stored)}
    assert lost <= sender.deleted
    gaps = puller.gap_bytes()
    assert gaps == puller.content.count(b"\0")
    assert bool(lost) <= bool(gaps) <= bool(sender.deleted or sender.unreadable)
    events = sum("it has no body" in note for note in puller.notes)
    assert events == sender.unreadable or (events < sender.unreadable and sender.deleted)


def test_a_message_that_was_sent_again_is_left_out_and_noted(topic):
    puller, sent = puller_of(topic), slow(1, 1, read_at=READ_AT)
    topic.put(0, sent)
    puller.visit(NOW)
    topic.put(1, sent)
    topic.put(0, slow(1, read_at=READ_AT + 9))
    puller.visit(NOW)
    assert puller.numbers() == [1, 1, 1], "equal entries of a server stay"
    assert puller.notes == ["left out: 1 message that was sent again"]


def test_equal_messages_without_the_time_of_reading_may_be_other_entries(topic):
    for _ in range(2):
        topic.put(0, slow(1))
    puller = puller_of(topic)
    puller.visit(NOW)
    assert (puller.numbers(), puller.notes) == ([1, 1], [])


def test_the_state_remembers_a_limited_number_of_messages(topic):
    for number in range(MAX_DIGESTS + 500):
        topic.put(0, slow(number, read_at=READ_AT + number))
    puller = puller_of(topic)
    puller.visit(NOW)
    size = len(puller.state.memory)
    topic.put(0, slow(MAX_DIGESTS + 499, read_at=READ_AT + MAX_DIGESTS + 499))
    puller.visit(NOW)
    assert "1 message that was sent again" in puller.notes[0]
    assert 10_000 < len(puller.state.memory) == size < 12_000


def test_records_of_other_hosts_and_files_are_left_out(topic):
    topic.put(0, slow(1, host="db-2"))
    topic.put(0, message("db-1", [record("an error", {"log.file.name": "error.log"}), record("x", {})]))
    topic.put(0, message("db-2", [record(ENTRY % 5, {**FILE, "host.name": "db-1"})]))
    topic.put(0, message("db-1", [record(ENTRY % 6, {"log.file.name": "slow.log.1"})]))
    puller = puller_of(topic)
    puller.visit(NOW)
    assert puller.numbers() == [5, 6], "an attribute of the record has priority over that of the resource"
    assert puller.notes == []


@pytest.mark.parametrize(("at", "read_at"), [(0, NOW * NANOS), (0, READ_AT - 789), (READ_AT, READ_AT)])
def test_equal_lines_with_a_time_that_they_may_share_stay(topic, at, read_at):
    line = record("select 7;", FILE, read_at)
    line.time_unix_nano = at
    is_unique = read_at % 1_000_000 > 0 and at != read_at
    for _ in range(2):
        topic.put(0, message("db-1", [line]))
    puller = puller_of(topic)
    puller.visit(NOW)
    assert puller.numbers() == ([7] if is_unique else [7, 7])


def test_one_record_with_the_time_of_reading_makes_a_message_unique(topic):
    for _ in range(2):
        topic.put(0, message("db-1", [record("select 1;", FILE), record("select 2;", FILE, READ_AT)]))
    puller = puller_of(topic)
    puller.visit(NOW)
    assert puller.numbers() == [1, 2]


def test_messages_that_arrive_during_the_first_visit_are_read_and_no_gap(topic):
    topic.put(0, slow(1))
    bounds, arriving = topic.bounds, iter([slow(2)])

    def bounds_before_a_message():
        found = bounds()
        for value in arriving:
            topic.put(0, value)
        return found

    topic.bounds = bounds_before_a_message
    puller = puller_of(topic, since=topic.now + 1)  # no message yet: the answer is the end at that moment
    puller.visit(NOW)
    puller.visit_until_read(NOW)
    assert (puller.numbers(), puller.notes) == ([2], [])


@pytest.mark.parametrize(
    ("pattern", "attributes", "is_selected"),
    [
        ("path=/var/[a]?/*.log", {"path": "/var/[a]?/x\ny.log"}, True),
        ("path=/var/[a]?/*.log", {"path": "/var/ab/x.log"}, False),
        ("path=*", {"path": ""}, True),
        ("path=*", {}, False),
        ("path=a.b", {"path": "axb"}, False),
    ],
)
def test_only_an_asterisk_has_a_meaning_in_a_pattern(pattern, attributes, is_selected):
    assert Attributes.parse(pattern).match(attributes) == is_selected


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (None, "it has no body"),
        (AnyValue(bytes_value=b"select 4711;\n"), "its body is bytes, not text"),
        (AnyValue(int_value=5), "its body is a number, not text"),
        (AnyValue(bool_value=False), "its body is a truth value, not text"),
        (AnyValue(double_value=0.0), "its body is a number, not text"),
        (
            AnyValue(array_value=ArrayValue(values=[AnyValue(string_value="a")])),
            "its body is a list, not text",
        ),
        (
            AnyValue(kvlist_value=KeyValueList(values=pairs({"secret": "4711"}))),
            "its body is a map, not text",
        ),
    ],
)
def test_a_record_that_is_no_text_is_a_gap_with_its_reason(topic, body, reason):
    bad = record(body, FILE)
    bad.event_name = "db.server.query_sample"
    topic.put(0, message("db-1", [record(ENTRY % 1, FILE), bad, record(ENTRY % 2, FILE)]))
    puller = puller_of(topic)
    puller.visit(NOW)
    assert puller.numbers() == [1, 2]
    assert puller.gap_bytes() == bad.ByteSize() == puller.content.count(b"\0")
    (note,) = puller.notes
    assert f"{reason} (event 'db.server.query_sample')" in note and "4711" not in note


def test_a_record_of_alloy_is_a_gap_and_no_line(topic):
    labels = {"job": "integrations/db-o11y", "op": "query_sample"}
    alloy = record('level="info" schema="shop"', {**FILE, **labels})
    topic.put(0, message("db-1", [alloy]))
    puller = puller_of(topic)
    puller.visit(NOW)
    (note,) = puller.notes
    assert "it is of Grafana Alloy (op=query_sample), and no line of a log" in note
    assert puller.gap_bytes() == alloy.ByteSize()


@pytest.mark.parametrize("encoding", ["otlp_proto", "otlp_json"])
def test_text_that_is_not_utf8_is_written_as_it_is(topic, encoding):
    topic.put(0, message("db-1", [record("select '##';\n", FILE)], encoding).replace(b"##", b"\xfe\xff"))
    puller = puller_of(topic)
    puller.visit(NOW)
    assert (puller.content, puller.notes) == (b"select '\xfe\xff';\n", [])


@pytest.mark.parametrize(
    "value",
    [
        b"\xff\xff",
        b'{"resourceSpans": []}',
        b'{"resourceLogs": 4711}',
        b'{"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": 4711}}]}]}]}',
        b"{",
        b"[]",
        b"8 8 8 ",  # valid protobuf with unknown fields
    ],
)
def test_a_message_that_is_no_log_is_a_gap_of_its_size(value):
    (found,) = MATCH.contents(value).entries
    assert isinstance(found, Undecodable) and found.size == len(value)
    assert found.reason.startswith("expected logs in OTLP") and "4711" not in found.reason


def test_a_topic_that_was_made_again_is_read_from_its_start(topic):
    topic.id, puller = "a", puller_of(topic)
    topic.put(0, slow(1))
    puller.visit(NOW)
    topic.make_again("b")
    for number in (2, 3, 4):
        topic.put(0, slow(number))
    puller.visit(NOW)
    assert puller.numbers() == [1, 2, 3, 4]
    assert puller.notes == [
        "the topic is another one: messages of the earlier one may be missing: a gap of 1 byte"
    ]
    topic.id = ""  # the service does not say it any more
    assert puller.visit(NOW).notes == []


def test_the_addresses_of_servers_are_no_part_of_the_path():
    log = entry().log()
    assert log.live_path == "/otlp/otlp_logs/slowlog"
    assert entry(url="kafka://k3:9092/otlp_logs").log().key == log.key


def test_a_list_with_one_state_or_one_selection_for_two_logs_is_refused(tmp_path: Path):
    file, first = tmp_path / "logs.json", dataclasses.asdict(entry())
    for more in ({"match": "host.name=db-1,log.file.name=other.log"}, {"instance": "db-2"}):
        file.write_text(json.dumps([first, {**first, **more}]))
        with pytest.raises(ConfigurationError, match="is listed twice"):
            load(file)
    file.write_text(json.dumps([first, {**first, "instance": "db-2", "match": "host.name=db-2"}]))
    assert len(load(file)) == 2


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"url": "kafka://k1:9092"}, "url must be kafka://HOST:PORT,…/TOPIC"),
        ({"url": "eventhubs://shop/logs"}, "url must be"),
        ({"url": "kafka://me:secret@k1:9092/logs"}, "url must be"),
        ({"match": "host.name"}, "match must be NAME=PATTERN"),
        ({"match": "host.name=a,host.name=b"}, "match names an attribute twice"),
    ],
)
def test_a_wrong_address_or_condition_is_refused(more, problem):
    with pytest.raises(ConfigurationError, match=problem):
        Clients().logs(entry(**more))


def test_a_connection_file_has_properties_of_the_login_only(tmp_path: Path):
    file = tmp_path / "kafka"
    topic = Clients().topic(entry(connection_file=str(file)))
    file.write_text("# of the puller\nsecurity.protocol = SASL_SSL\n\nsasl.password=a=b\n")
    assert topic.security() == {"security.protocol": "SASL_SSL", "sasl.password": "a=b"}
    for text, problem in (("group.id=secret", "found group.id"), ("secret", "found no =")):
        file.write_text(text)
        with pytest.raises(PermissionMissingError, match=problem) as error:
            topic.security()
        assert "secret" not in str(error.value)
    file.unlink()
    with pytest.raises(PermissionMissingError, match="No such file"):
        topic.bounds()


def test_a_topic_that_cannot_be_reached_is_named(monkeypatch):
    monkeypatch.setattr("tailrace_pull.kafka_topic.TIMEOUT_SECONDS", 0.5)
    topic = Clients().topic(entry(url="kafka://127.0.0.1:1/logs"))
    for ask in (topic.identity, topic.bounds):
        with pytest.raises(RemoteError, match=r"topic logs of 127\.0\.0\.1:1: "):
            ask()
