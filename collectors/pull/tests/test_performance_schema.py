"""Reads records of mysqlreceiver and of Grafana Alloy from a topic that fails, repeats messages and deletes
some, while the puller is killed."""

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

import msgpack
import pytest
from entries_puller import EntriesPuller
from fake_topic import NOW, FakeTopic
from performance_schema_messages import (
    AT,
    DIGEST,
    alloy,
    entry,
    event,
    finished,
    message,
    running,
    top_query,
)
from test_otlp_logs import Sender

from tailrace_pull import snapshots
from tailrace_pull.check import check
from tailrace_pull.config import Clients
from tailrace_pull.otlp_logs import Attributes, message_of, records_of
from tailrace_pull.performance_schema import contents, fields_of
from tailrace_pull.remote import RemoteError
from tailrace_pull.topic_reading import LogOfTopic

SEEDS = 3
LONG_SEEDS = 500
ALL = Attributes.parse("mysql.instance.endpoint=db-1:3306")
LOG = entry().log()
SAMPLE_WITH_TEXT = ' sql_text="select 1 from t where a = "x" and id = {}"'


class RecordsPuller(EntriesPuller):
    """A puller that also keeps the facts of the snapshots."""

    def __init__(self, topic: FakeTopic) -> None:
        super().__init__(Clients().logs(entry()))
        self.log = LogOfTopic(topic, "db-1", ALL, self.log.contents, 1)
        self.facts: list[Mapping[str, str]] = []

    def visit(self, at, max_bytes=1 << 20, is_killed=False):
        done = super().visit(at, max_bytes, is_killed)
        if not is_killed:
            for value in snapshots.envelopes(LOG, done):
                self.facts += [each["attributes"] for each in msgpack.unpackb(value)["facts"]]
        return done

    def numbers(self) -> list[int]:
        return [int(each.get("thread_id") or each["statements"]) for each in self.facts if _is_used(each)]


def _is_used(fact: Mapping[str, str]) -> bool:
    return "ignored" not in fact


@pytest.fixture
def topic() -> FakeTopic:
    return FakeTopic()


def decoded(record, encoding: str = "otlp_proto") -> Mapping[str, str]:
    (found,) = records_of(message_of(message([record], encoding)))
    return fields_of(found)


@pytest.mark.parametrize("encoding", ["otlp_proto", "otlp_json"])
def test_a_top_query_has_the_counters_that_the_receiver_knows(encoding):
    known = {"tool": "mysqlreceiver", "kind": "top_query", "at": "1795000000.123456", "database": "shop"}
    known |= {"digest": DIGEST, "digest_text": "SELECT ? FROM t", "seconds": "0.25"}
    assert decoded(top_query(5), encoding) == {**known, "statements": "5"}
    assert decoded(top_query(5, examined_rows=0, returned_rows=9), encoding) == {
        **known,
        "statements": "5",
        "rows_examined": "0",
        "rows_sent": "9",
    }
    assert decoded(top_query(0, examined_rows=0, returned_rows=0), encoding) == known, "unknown, not zero"


@pytest.mark.parametrize("encoding", ["otlp_proto", "otlp_json"])
def test_a_running_statement_has_neither_its_text_nor_names_of_users_and_clients(encoding):
    record = running(42)
    record.trace_id = bytes(range(16))
    assert decoded(record, encoding) == {
        "tool": "mysqlreceiver",
        "kind": "query_sample",
        "at": "1795000000.123456",
        "state": "running",
        "database": "shop",
        "digest": DIGEST,
        "thread_id": "42",
        "thread_event_id": "17",
        "seconds": "1.5",
        "command": "Query",
        "stage": "executing",
        "wait": "wait/io/table/sql/handler",
        "trace_id": "000102030405060708090a0b0c0d0e0f",
    }


def test_an_event_of_a_sender_without_names_of_events_is_read():
    record = top_query(5)
    record.event_name = ""
    record.attributes.add(key="event.name").value.string_value = "db.server.top_query"
    assert decoded(record) == decoded(top_query(5))


def test_a_finished_execution_has_the_fields_of_alloy():
    parent = ' traceparent="00-000102030405060708090a0b0c0d0e0f-0102030405060708-01"'
    found = decoded(finished(42, parent + SAMPLE_WITH_TEXT.format(7)))
    assert found == {
        "tool": "alloy",
        "kind": "query_sample",
        "at": "1795000000.123456",
        "state": "finished",
        "database": "shop",
        "digest": DIGEST,
        "thread_id": "42",
        "thread_event_id": "24",
        "seconds": "0.0125",
        "rows_examined": "7",
        "rows_sent": "1",
        "rows_affected": "0",
        "errors": "0",
        "trace_id": "000102030405060708090a0b0c0d0e0f",
        "sample": 'select 1 from t where a = "x" and id = 7',
    }


@pytest.mark.parametrize(
    "text",
    [
        "select 1 from t where ...",
        "select '" + "x" * 1000 + "'",
        'select 1" message_text="Rows matched: 1',
        'select 1" message_text="a" message_text="b',
    ],
)
def test_a_statement_whose_end_is_not_known_is_left_out(text):
    assert "sample" not in decoded(finished(1, f' sql_text="{text}"'))


def test_the_text_of_a_digest_is_read():
    line = f'schema="shop" parseable="true" digest="{DIGEST}" digest_text="SELECT "a" FROM `t`"'
    assert decoded(alloy("query_association", line)) == {
        "tool": "alloy",
        "kind": "query_association",
        "at": "1795000000.123456",
        "database": "shop",
        "digest": DIGEST,
        "digest_text": 'SELECT "a" FROM `t`',
    }


TEXT, SUMMARY = "db.query.text", "mysql.events_statements_summary_by_digest."
FORGED = [
    finished(1, digest=f'{DIGEST}" thread_id="2'),
    finished(1, digest=DIGEST + '" x="' + DIGEST + '" digest="' + "0" * 64),
    finished(1, digest='a"b'),
    finished(1, ' sql_text="no end'),
    finished(1, schema=f'a" digest="{"0" * 32}" sql_text="x'),
    finished(1, schema=f'a" digest="{"0" * 32}" event_id="1', user='b" elapsed_time="1" sql_text="x'),
    alloy("query_association", f'schema="a" digest="{"0" * 32}" digest_text="x" digest="{DIGEST}"'),
    alloy("query_sample", "no values"),
    alloy("query_sample", 'schema="shop"'),
    alloy("query_sample", f'schema="{"x" * 201}" digest="{DIGEST}"'),
]
UNREADABLE = [
    *FORGED,
    top_query(-1),
    top_query(5, examined_rows="1" * 5000),
    top_query(5, examined_rows=str(2**63)),
    event("top_query", {TEXT: "x" * ((1 << 20) + 1), SUMMARY + "digest": DIGEST}),
    alloy("query_association", f'parseable="true" digest="{DIGEST}" digest_text="{"x" * ((1 << 20) + 1)}"'),
    alloy("query_sample", f'digest="{DIGEST}" mysql_errno="{2**32 + 1}"'),
    top_query(5, digest=""),
    top_query(5, seconds=float("nan")),
    top_query(5, seconds=-1.0),
    running(5, **{"mysql.event_id": "x4711"}),
    top_query(5, at=1),
]


@pytest.mark.parametrize("number", range(len(UNREADABLE)))
def test_a_record_in_another_form_is_counted_with_a_reason_and_without_values(number):
    found = decoded(UNREADABLE[number])
    assert set(found) == {"tool", "kind", "at", "ignored"}
    assert found["ignored"].startswith("unreadable: ")
    assert DIGEST not in found["ignored"] and "4711" not in found["ignored"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (event("query_plan", {"mysql.query_plan": "{}"}), "a plan without the query id of its statement"),
        (alloy("explain_plan_output", 'digest="x"'), "a plan without the query id of its statement"),
        (alloy("wait_event", 'digest="x"'), "a wait of a statement"),
        (alloy("new", ""), "an unknown kind of record"),
        (event("new", {}), "an unknown kind of record"),
    ],
)
def test_a_record_that_is_not_used_is_counted_with_its_reason(record, reason):
    assert decoded(record)["ignored"] == reason


@pytest.mark.parametrize("record", [event("gap", {}), alloy("gap", "")])
def test_a_record_that_is_named_gap_is_no_gap(record):
    found = decoded(record)
    assert (found["kind"], found["ignored"]) == ("", "an unknown kind of record")


def test_a_line_of_a_log_is_counted():
    record = alloy("query_sample", "x")
    del record.attributes[:]
    assert decoded(record)["ignored"] == "neither of mysqlreceiver nor of Grafana Alloy"


def test_a_message_that_was_sent_again_is_left_out(topic):
    puller, twice = RecordsPuller(topic), [message([top_query(5)]), message([finished(6)])]
    for value in (*twice, *twice, message([top_query(5, at=AT + 1)])):
        topic.put(0, value)
    puller.visit(NOW)
    assert puller.numbers() == [5, 6, 5]


def test_a_large_visit_has_parts_with_their_number(topic):
    for number in range(1, 3001):
        topic.put(0, message([finished(number, SAMPLE_WITH_TEXT.format(number))]))
    done = RecordsPuller(topic).visit(NOW, 1 << 24)
    found = [msgpack.unpackb(value) for value in snapshots.envelopes(LOG, done)]
    assert len(found) > 1
    assert [(each["part"], each["parts"]) for each in found] == [
        (number, len(found)) for number in range(1, len(found) + 1)
    ]
    assert sum(len(each["facts"]) for each in found) == 3000
    assert max(len(each["facts"]) for each in found) <= snapshots.FACTS_PER_SNAPSHOT
    assert max(map(size_of_lines, found)) <= snapshots.BLOCK_BYTES


def size_of_lines(snapshot: Mapping[str, list]) -> int:
    return sum(int(fact["attributes"]["bytes"]) for fact in snapshot["facts"])


def test_large_records_have_snapshots_of_their_own(topic):
    text = "x" * (snapshots.BLOCK_BYTES // 3)
    for number in range(1, 8):
        large = alloy(
            "query_association", f'parseable="true" digest="{DIGEST}" digest_text="{text}"', AT + number
        )
        topic.put(0, message([large]))
    done = RecordsPuller(topic).visit(NOW, 1 << 24)
    found = [msgpack.unpackb(value) for value in snapshots.envelopes(LOG, done)]
    assert [len(each["facts"]) for each in found] == [2, 2, 2, 1]


def findings(topic: FakeTopic) -> list[tuple[str, str]]:
    clients = Clients()
    clients.topic = lambda _: topic
    found = list(check(entry(), clients))
    assert all("docs/PULL.md#" in each.fix for each in found if each.severity == "error")
    return [(each.severity, each.message.removeprefix("db-1 performance_schema: ")) for each in found[1:-1]]


def test_the_check_names_what_is_used_counted_and_unreadable(topic):
    topic.put(0, message([top_query(5), running(6), event("query_plan", {}), top_query(-1)]))
    assert findings(topic) == [
        ("ok", "records of this log: 4 of the last 4"),
        (
            "error",
            "1 of the last records are not in the published form: "
            "top_query: unreadable: count_star is no count (1)",
        ),
        ("ok", "used: top_query (1), query_sample (1)"),
        ("ok", "counted only: query_plan: a plan without the query id of its statement (1)"),
    ]


def test_the_check_says_that_nothing_is_used(topic):
    topic.put(0, message([event("query_plan", {})]))
    assert ("unknown", "none of these records is used") in findings(topic)


class RecordsSender(Sender):
    """Sends records of all kinds, whose numbers are counts or threads."""

    def _send(self, partition: int) -> None:
        content = [next(self._numbers) for _ in range(self.chosen.choice((0, 1, 5)))]
        records = [self._record(number) for number in content]
        if self.chosen.random() < 0.3:
            records.insert(0, alloy("wait_event", f'digest="{DIGEST}"', read_at=next(self._numbers)))
        self._put(partition, message(records, self.chosen.choice(("otlp_proto", "otlp_json"))), content)
        self._put(partition, message([top_query(next(self._numbers))], endpoint="db-2:3306"))

    def _record(self, number: int):
        of_kind = self.chosen.choice((top_query, running, finished))
        return of_kind(number, at=AT + self.chosen.randrange(1000))

    def _send_event(self, partition: int) -> None:
        self.unreadable += 1
        self._put(partition, b"\xff" * self.unreadable)


def check_records(seed: int) -> None:
    """Pulls while the sender and the topic act, and the puller is killed. Each record is a fact once, and the
    facts account for every byte."""
    topic = FakeTopic()
    topic.id, sender, puller = "a", RecordsSender(seed, topic), RecordsPuller(topic)
    topic.between = sender.act
    for _ in range(60):
        with suppress(RemoteError):
            puller.visit(NOW, sender.chosen.choice((1, 1000, 1 << 20)), sender.chosen.random() < 0.2)
        sender.may_lose = bool(puller.state.memory)
    topic.between = lambda: None
    puller.visit_until_read(NOW, 1000)
    stored = Counter(puller.numbers())
    assert stored and max(stored.values()) == 1
    lost = {place for place, content in sender.written.items() if not set(content) <= set(stored)}
    assert lost <= sender.deleted
    check_tiles(puller)


def check_tiles(puller: RecordsPuller) -> None:
    """The facts have the bytes of the log without holes, and say the same as its lines."""
    end = 0
    for fact in puller.facts:
        offset, size = int(fact["offset"]), int(fact["bytes"])
        assert offset == end, "a hole, or bytes that are counted twice"
        end = offset + size
        if fact["kind"] == "gap":
            assert puller.content[offset:end] == b"\0" * size and fact["ignored"]
            continue
        line = json.loads(puller.content[offset:end])
        assert {**line, **{name: fact[name] for name in ("path", "file", "offset", "bytes")}} == fact
    assert end == puller.state.files[0].offset
    gaps = [int(fact["bytes"]) for fact in puller.facts if fact["kind"] == "gap"]
    assert sum(gaps) == puller.gap_bytes()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS, LONG_SEEDS))
def test_each_record_is_a_fact_once_long(seed: int) -> None:
    check_records(seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_record_is_a_fact_once(seed: int) -> None:
    check_records(seed)


def test_an_undecodable_message_is_a_gap_of_its_size():
    (found,) = contents(ALL, b"\xff\xff").entries
    assert found.size == 2
