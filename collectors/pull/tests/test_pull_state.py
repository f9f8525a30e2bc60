"""The stored state, records of lines, and the pace of visits."""

import itertools
import random

import pytest
import yaml
from confluent_kafka import KafkaError, KafkaException

from tailrace.config.resources import REPOSITORY
from tailrace_pull.log import PulledLog
from tailrace_pull.pace import MAX_SECONDS, MIN_SECONDS, Pace
from tailrace_pull.reading import LineRun, Round
from tailrace_pull.shipping import PRODUCER, STATE_TOPIC, Shipper, ShippingError, blocks
from tailrace_pull.state import LogState, PulledFile, StateError

LOG = PulledLog("db-1", "shop", "slowlog", "/rds/r/db-1/slowquery/mysql-slowquery.log")


def test_a_state_is_read_as_it_was_written():
    state = LogState([PulledFile(7, "slow.log.1", False, 12, "16:12", 0, b"\xff\n", 12, 1.5, None, 12)])
    assert LogState.from_json(state.to_json()) == state


@pytest.mark.parametrize("stored", [b"", b"[]", b'{"version": 1}', b'{"version": 1, "files": [{}]}'])
def test_a_damaged_state_is_an_error(stored):
    with pytest.raises(StateError, match="damaged"):
        LogState.from_json(stored)


def test_a_newer_state_is_not_read():
    with pytest.raises(StateError, match="version 5"):
        LogState.from_json(b'{"version": 5, "files": []}')


def test_a_rotated_file_has_a_suffix_that_belongs_to_the_log():
    live, rotated = PulledFile(1_795_000_123_456, "a"), PulledFile(1_795_000_123_456, "a.16", is_live=False)
    assert LOG.path(live) == LOG.live_path
    assert LOG.path(rotated) == f"{LOG.live_path}.123456"


def test_the_record_of_lines_has_no_last_line_feed():
    record = LOG.lines(PulledFile(1, "a"), 5, b"one\r\n\ntwo\n", 1.0)
    assert (record["offset"], record["log"]) == (5, b"one\r\n\ntwo")


def test_blocks_are_complete_lines_of_at_most_the_size():
    lines = b"".join(b"x" * length + b"\n" for length in (0, 3, 9, 40, 2))
    found = list(blocks(100, lines, size=10))
    assert b"".join(block for _, block in found) == lines
    assert [offset for offset, _ in found] == [100, 105, 115, 156]
    assert all(block.endswith(b"\n") for _, block in found)


class KnownProducer:
    """Notes calls, and the topics of the last transaction. Refuses each record as too large if it shall."""

    def __init__(self, is_refusing: bool = False) -> None:
        self.is_refusing = is_refusing
        self.calls: list[str] = []
        self.topics: list[str] = []

    def begin_transaction(self) -> None:
        self.calls.append("begin")
        self.topics = []

    def abort_transaction(self, _: float) -> None:
        self.calls.append("abort")

    def commit_transaction(self, _: float) -> None:
        self.calls.append("commit")

    def produce(self, topic: str, *_: object, **__: object) -> None:
        if self.is_refusing:
            raise KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
        self.topics.append(topic)

    def poll(self, _: float) -> None:
        """All records are taken at once."""


def shipping_to(producer: KnownProducer) -> Shipper:
    shipper = Shipper.__new__(Shipper)
    shipper._producer, shipper._signer, shipper._stored = producer, None, {}
    return shipper


def test_a_record_that_kafka_refuses_ends_the_transaction_and_not_the_puller():
    file, producer = PulledFile(1, "a"), KnownProducer(is_refusing=True)
    shipper = shipping_to(producer)
    done = Round(1.0, LogState([file]), [LineRun(file, 0, b"x\n")])
    with pytest.raises(ShippingError, match="slowlog"):
        shipper.ship({LOG: done})
    assert producer.calls == ["begin", "abort"]


def test_a_state_is_stored_again_only_if_it_differs_from_what_kafka_confirmed():
    producer = KnownProducer()
    shipper, state = shipping_to(producer), LogState([PulledFile(1, "a")])

    def is_stored(state: LogState) -> bool:
        shipper.ship({LOG: Round(1.0, state)})
        assert producer.topics[:2] == [LOG.topic, "tailrace.files"], "the census of each visit"
        return producer.topics[2:] == [STATE_TOPIC]

    assert [is_stored(state), is_stored(state.copy())] == [True, False]
    state = state.copy()
    state.files[0].size = 5
    producer.is_refusing = True
    with pytest.raises(ShippingError):
        shipper.ship({LOG: Round(1.0, state)})
    producer.is_refusing = False
    assert [is_stored(state), is_stored(state.copy())] == [True, False]


def test_kafka_takes_states_as_large_as_the_producer_does():
    """A broker's own default is 1 MB: fewer than 11,000 objects."""
    topics = yaml.safe_load((REPOSITORY / "schemas" / "topics.yaml").read_text())["topics"]
    (state,) = (topic for topic in topics if topic["name"] == STATE_TOPIC)
    assert state["config"]["max.message.bytes"] == PRODUCER["message.max.bytes"]


def test_only_complete_lines_are_part_of_the_head():
    file = PulledFile(1, "a")
    file.extend_head(b"a" * 4000 + b"\n" + b"b" * 4000 + b"\n")
    assert file.head == b"a" * 4000 + b"\n"


def test_a_quiet_log_is_visited_seldom_and_a_growing_one_often():
    pace = Pace(random.Random(1))
    quiet = [pace.after_visit(False, True) for _ in range(20)]
    assert quiet[-1] > 0.9 * MAX_SECONDS
    assert max(quiet) < 60, "a minute without a census is unknown"
    assert pace.after_visit(True, True) < 1.2 * MIN_SECONDS
    assert pace.after_visit(True, False) == 0


def test_pauses_double_after_failures():
    pace = Pace(random.Random(1))
    pauses = [pace.after_failure() for _ in range(4)]
    assert all(1.5 < later / before < 2.6 for before, later in itertools.pairwise(pauses))
    pace.after_visit(False, True)
    assert pace.after_failure() < 2.5 * MIN_SECONDS
