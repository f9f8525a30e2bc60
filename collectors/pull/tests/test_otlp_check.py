"""The findings of the check of a topic with logs in OTLP."""

import pytest
from fake_topic import FakeTopic
from otlp_messages import ENTRY, entry, message, record, slow

from tailrace_pull.check import check
from tailrace_pull.config import Clients
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError

FILE = {"log.file.name": "slow.log"}


@pytest.fixture
def topic() -> FakeTopic:
    return FakeTopic()


def findings(topic: FakeTopic, **more: str) -> list[tuple[str, str]]:
    clients = Clients()
    clients.topic = lambda _: topic
    found = list(check(entry(**more), clients))
    assert all("docs/PULL.md#" in each.fix for each in found if each.severity == "error")
    return [(each.severity, each.message.removeprefix("db slowlog: ")) for each in found]


def test_the_check_shows_what_the_last_messages_contain(topic):
    sample = record(None, {"mysql.instance.endpoint": "db-1:3306"})
    sample.event_name = "db.server.query_sample"
    alloy = record("level=info", {"job": "integrations/db-o11y", "op": "wait_event"})
    topic.put(0, message("db-1", [sample, alloy, record(None, FILE)]))
    topic.put(1, slow(1, 2))
    topic.put(1, b"\xff\xff")
    assert findings(topic) == [
        ("ok", "kafka://k1:9092,k2:9092/otlp_logs can be read (2 partitions)"),
        ("ok", "records of this log: 3 of the last 5"),
        (
            "error",
            "2 of the last records are a gap each: it has no body (1), "
            "expected logs in OTLP: DecodeError (1)",
        ),
        ("ok", "events that are not read: db.server.query_sample (1), op=wait_event (1)"),
        ("ok", "kafka://k1:9092,k2:9092/otlp_logs keeps messages for 168 h"),
    ]


def test_the_check_names_the_attributes_that_records_have(topic):
    topic.put(0, slow(1, 2, host="db-7"))
    topic.put(0, slow(3, host="db-8"))
    assert findings(topic, match="host.name=db-1,log.file.path=/var/log/slow.log")[1] == (
        "unknown",
        "`match` selects none of the last 3 records: host.name is db-7 (2), db-8 (1); "
        "no record has log.file.path",
    )
    assert findings(FakeTopic(1))[:2] == [
        ("ok", "kafka://k1:9092,k2:9092/otlp_logs can be read (1 partition)"),
        ("unknown", "kafka://k1:9092,k2:9092/otlp_logs has no records yet"),
    ]


def test_the_check_warns_of_entries_that_partitions_can_mix(topic):
    lines = [record(line, FILE) for line in (ENTRY % 3).split("\n")]
    topic.put(0, message("db-1", lines))
    problem = ("error", "each record is one line, and the topic has 2 partitions: entries may be mixed")
    assert problem in findings(topic)
    topic.put(0, slow(4))
    assert problem not in findings(topic)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FileGoneError("there is no topic logs"), "there is no topic logs"),
        (PermissionMissingError("the account lacks READ", "READ"), "the account lacks READ"),
        (PermissionMissingError("the login is refused"), "the login is refused"),
        (RemoteError("no answer"), "no answer"),
    ],
)
def test_the_check_says_why_a_topic_cannot_be_read(topic, error, text):
    def fail() -> None:
        raise error

    topic.between = fail
    assert findings(topic) == [("error", text)]
