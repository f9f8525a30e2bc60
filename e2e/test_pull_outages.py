"""Lines of a pulled log are in Kafka once and in order, although Kafka and the puller are killed."""

import time
from collections.abc import Iterator
from contextlib import suppress
from random import Random

import pytest

from e2e.pulling import query_protocol
from e2e.pulling.fake_rds import FakeRds
from e2e.pulling.puller import Puller
from e2e.stack import Stack, wait_until
from e2e.test_pull import LIVE, LOG, serving
from e2e.topics import committed
from tailrace_local import kafka as local_kafka

SEEDS = 6
ROUNDS = 5
MAX_SECONDS = 3.0
"""How long the puller runs before a kill."""


@pytest.fixture(autouse=True)
def no_puller_is_left() -> Iterator[None]:
    yield
    Puller.end_all()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS))
def test_lines_are_in_kafka_once_although_kafka_and_the_puller_are_killed(keeping, tmp_path, seed):
    random, name = Random(seed), f"kafka-killed-{seed}"
    fake = FakeRds(seed, portion_bytes=20_000, portion_lines=500, fault_rate=0.03)
    written: list[bytes] = []
    with serving(query_protocol.serve("rds", fake.handle)) as address:
        kafka = local_kafka.connect(keeping.settings, keeping.home, "pull")
        puller = Puller(kafka, tmp_path, address, {**LOG, "instance": name})
        for number in range(ROUNDS):
            _write(fake, random, written)
            if random.random() < 0.8:  # else the puller starts without Kafka
                keeping.await_healthy()
            puller.start()
            time.sleep(random.uniform(0, MAX_SECONDS))  # the instant of the kill is what the seed chooses
            if random.random() < 0.7 and keeping.status("kafka").pid:
                keeping.kill("kafka")
            if random.random() < 0.7:
                puller.kill()
            _end(puller)
            if random.random() < 0.5:
                fake.rename(LIVE, f"{LIVE}.2026-11-26.{number:02}")
        _write(fake, random, written)
        fake.settle()
        keeping.await_healthy()
        puller.start()
        wait_until(lambda: _stored(keeping, name).count(b"\n") >= len(written), "all lines")
        puller.stop()
    assert _stored(keeping, name) == b"".join(written)


def _write(fake: FakeRds, random: Random, written: list[bytes]) -> None:
    """Writes lines, of which no two are equal."""
    lines = [
        f"line {len(written) + number} ".encode() + b"x" * random.choice((5, 300)) + b"\n"
        for number in range(random.choice((1, 400, 4000)))
    ]
    fake.write(LIVE, b"".join(lines))
    written += lines


def _end(puller: Puller) -> None:
    """Ends the puller if it still runs. One that does not know what Kafka stored has ended by itself."""
    with suppress(ProcessLookupError):
        puller.kill()


def _stored(keeping: Stack, instance: str) -> bytes:
    """Returns the lines of committed transactions, in the order of the topic."""
    messages = committed(keeping.settings, "tailrace.slowlog.lines", instance)
    return b"".join(_bytes(each["log"]) + b"\n" for each in messages if "log" in each)


def _bytes(text: object) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode()
