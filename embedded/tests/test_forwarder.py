"""The loop of a channel with a consumer written by hand: order of commits, outages and stops.

e2e/test_forwarding.py runs it with a real Kafka.
"""

import json
import threading
from dataclasses import dataclass, field

import pytest

from e2e import event_messages as messages
from e2e.limits import LIMIT_SECONDS
from tailrace.forwarding import forwarder as module
from tailrace.forwarding import status as status_module
from tailrace.forwarding.forwarder import Forwarder
from tailrace.forwarding.status import REFUSED_IN_A_ROW, Status
from tailrace.outputs.config import Elasticsearch
from tailrace.outputs.event_channels import KINDS, EventChannel
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Outcome, Receiver, Record


@dataclass(frozen=True)
class FakeMessage:
    """A message of partition 0."""

    number: int
    content: bytes

    def value(self) -> bytes:
        return self.content

    def error(self) -> None:
        return None

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self.number


@dataclass
class FakeConsumer:
    """Yields messages one batch at a time; at their end it stops the forwarder when everything is
    committed."""

    waiting: list[FakeMessage] = field(default_factory=list)
    committed: list[int] = field(default_factory=list)
    paused: int = 0
    at_end: object = lambda: None

    def subscribe(self, topics: list[str], on_assign: object) -> None:
        assert topics == ["tailrace.events"]

    def consume(self, most: int, timeout: float) -> list[FakeMessage]:
        if timeout == 0:
            return []
        taken, self.waiting = self.waiting[:most], self.waiting[most:]
        if not taken:
            self.at_end()
        return taken

    def assignment(self) -> list:
        return [module.TopicPartition(module.TOPIC, 0)]

    def get_watermark_offsets(self, place: object, cached: bool) -> tuple[int, int]:
        return 0, 10

    def commit(self, offsets: list, asynchronous: bool) -> None:
        self.committed += [place.offset for place in offsets]

    def pause(self, partitions: list) -> None:
        self.paused += 1

    def resume(self, partitions: list) -> None:
        assert partitions

    def close(self) -> None:
        """Nothing to close."""


class FakeReceiver(Receiver):
    """Answers with the next list of outcomes, then delivers."""

    def __init__(self, answers: list[list[str]], gate: threading.Event) -> None:
        self.answers = answers
        self.gate = gate
        self.sent: list[str] = []

    def send(self, records: list[Record]) -> list[Outcome]:
        assert self.gate.wait(LIMIT_SECONDS)
        self.sent += [record.id for record in records]
        given = self.answers.pop(0) if self.answers else [DELIVERED] * len(records)
        return [Outcome(each, f"of the test: {each}") for each in given]

    def show(self, record: Record) -> str:
        return record.id


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a forwarder over messages until `until` holds; returns consumer, receiver, refused ids and
    status."""
    gate = threading.Event()

    def start(answers, until, gate_open=True, count=4, extra=(), **options):
        consumer, receiver = FakeConsumer(), FakeReceiver(answers, gate)
        consumer.waiting = [FakeMessage(number, messages.login(number)) for number in range(count)]
        consumer.waiting += extra
        monkeypatch.setattr(module, "Consumer", lambda _: consumer)
        monkeypatch.setattr(module, "receiver_of", lambda _: receiver)
        refused: list[str] = []
        kept = type(
            "Refused",
            (),
            {"store": lambda _, given: refused.extend(id_ or reason for _, id_, reason in given)},
        )
        monkeypatch.setattr(module, "RefusedEvents", lambda *_: kept())
        given = {"batch_events": 2, "parallel": 1, "retry_initial": 0, **options}
        to = Elasticsearch(url="http://127.0.0.1:9", index="x")
        channel = EventChannel(name="x", receiver=to, kinds=KINDS, format="ecs", **given)
        status = Status(tmp_path / "status.json")
        made = Forwarder(channel, lambda each: each, status, lambda _: None)
        consumer.at_end = lambda: until(consumer, receiver) and made.stop()
        if gate_open:
            gate.set()
        made.run()
        return consumer, receiver, refused, status

    start.gate = gate
    return start


def ids(*numbers: int) -> list[str]:
    return [messages.id_of(number) for number in numbers]


def test_only_what_failed_is_sent_again_and_only_what_was_refused_is_stored(run):
    answers = [[FAILED, REFUSED], [FAILED], [DELIVERED]]
    consumer, receiver, refused, status = run(answers, lambda consumer, _: consumer.committed[-1:] == [4])
    assert receiver.sent == ids(0, 1, 0, 0, 2, 3)
    assert refused == ids(1) and consumer.committed == [2, 4]
    counts = {name: status._counts[name] for name in ("read", "delivered", "refused", "failed")}
    assert counts == {"read": 4, "delivered": 3, "refused": 1, "failed": 2}


def test_a_receiver_that_refuses_everything_is_a_problem_until_it_accepts_an_event(tmp_path):
    status = Status(tmp_path / "status.json")

    def problem_after(delivered: int, refused: int) -> str:
        status.answered(delivered, refused, "HTTP 403")
        status.beat(0)
        return json.loads((tmp_path / "status.json").read_text())["problem"]

    assert not problem_after(0, REFUSED_IN_A_ROW - 1)
    assert problem_after(0, 1) == "every event is refused: HTTP 403"
    assert problem_after(0, 0) == "every event is refused: HTTP 403"
    assert not problem_after(1, REFUSED_IN_A_ROW)
    assert not problem_after(0, REFUSED_IN_A_ROW - 1)


def test_refused_events_alone_make_a_lasting_problem_of_the_channel(run, monkeypatch, tmp_path):
    monkeypatch.setattr(status_module, "REFUSED_IN_A_ROW", 4)
    run([[REFUSED] * 2] * 2, lambda consumer, _: consumer.committed[-1:] == [4])
    written = json.loads((tmp_path / "status.json").read_text())
    assert written["problem"] == "every event is refused: of the test: refused"


def test_a_damaged_event_is_a_dead_letter(run):
    damaged = FakeMessage(4, messages.login(4)[:40])
    consumer, receiver, refused, _ = run(
        [], lambda consumer, _: consumer.committed[-1:] == [5], extra=[damaged]
    )
    assert receiver.sent == ids(0, 1, 2, 3) and refused[0].startswith("a damaged AuditEvent")
    assert consumer.committed[-1] == 5


def test_nothing_is_committed_while_the_receiver_is_unavailable(run):
    consumer, receiver, *_ = run(
        [[FAILED, FAILED]] * 10_000, lambda _, receiver: len(receiver.sent) > 3, count=2, parallel=2
    )
    assert consumer.committed == [] and set(receiver.sent) == set(ids(0, 1))


def test_a_consumer_that_waits_long_continues_to_poll(run, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.01)
    opened = FakeConsumer.pause

    def pause(consumer: FakeConsumer, partitions: list) -> None:
        opened(consumer, partitions)
        if consumer.paused == 3:
            run.gate.set()

    monkeypatch.setattr(FakeConsumer, "pause", pause)
    consumer, *_ = run([], lambda consumer, _: consumer.committed[-1:] == [4], gate_open=False)
    assert consumer.paused >= 3 and consumer.committed == [2, 4]
