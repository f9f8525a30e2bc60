"""The collector while its broker stops and returns at the worst moments, and while the collector is
stopped."""

import os
import socket
import sqlite3
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http import HTTPStatus
from pathlib import Path

import pytest

from e2e.failing_broker import FailingBroker, Fault
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from e2e.topics import make_topic, texts
from tailrace_local.components.fluentbit import FluentBit

CONFIGURATION = """
[SERVICE]
    Flush        0.2
    Grace        60
    storage.path {directory}/buffer
    HTTP_Server  On
    HTTP_Listen  127.0.0.1
    HTTP_Port    {health}
    Health_Check On
    HC_Errors_Count 1
[INPUT]
    Name           tail
    Path           {directory}/slow.log
    DB             {directory}/offsets.db
    Read_From_Head On
    storage.type   filesystem
[OUTPUT]
    Name                                kafka
    Match                               *
    Brokers                             127.0.0.1:{port}
    Topics                              {topic}
    Format                              msgpack
    Retry_Limit                         no_limits
    queue_full_retries                  0
    rdkafka.enable.idempotence          true
    rdkafka.request.required.acks       -1
    rdkafka.message.timeout.ms          0
    rdkafka.linger.ms                   {linger}
    rdkafka.reconnect.backoff.max.ms    1000
"""
"""Ships as collectors/fluent-bit/kafka.conf does, with the health check of service.conf."""


class Collector:
    """A separate collector, for one log and one topic."""

    def __init__(self, stack: Stack, directory: Path, topic: str, linger: int, environment: dict[str, str]):
        self._stack, self._directory, self._topic = stack, directory, topic
        self._log = directory / "slow.log"
        self._log.touch()
        make_topic(stack.settings, topic)
        fluent_bit = FluentBit(stack.settings, stack.home)
        self.is_version_1 = fluent_bit.is_version_1()
        self._health_port = _free_port()
        self._command = [
            str(fluent_bit.program()),
            "-c",
            str(self._write_configuration(linger)),
        ]
        self._environment = environment
        self.start()

    def _write_configuration(self, linger: int) -> Path:
        configuration = self._directory / "collector.conf"
        port = self._stack.settings.port_kafka
        text = CONFIGURATION.format(
            directory=self._directory, port=port, topic=self._topic, linger=linger, health=self._health_port
        )
        configuration.write_text(text)
        return configuration

    def start(self) -> None:
        with (self._directory / "output").open("ab") as output:
            self.process = subprocess.Popen(
                self._command,
                env={**os.environ, **self._environment},
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(LIMIT_SECONDS)

    def write(self, text: bytes) -> None:
        with self._log.open("ab") as file:
            file.write(text)

    def is_unhealthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._health_port}/api/v1/health", timeout=60):
                return False
        except urllib.error.HTTPError as error:
            return error.code == HTTPStatus.INTERNAL_SERVER_ERROR

    def has_read_everything(self) -> bool:
        with (
            suppress(sqlite3.OperationalError),  # Fluent Bit writes to it
            closing(sqlite3.connect(self._directory / "offsets.db")) as offsets,
        ):
            found = offsets.execute("SELECT offset FROM in_tail_files").fetchall()
            return found == [(self._log.stat().st_size,)]
        return False

    def fails_with_another_line(self) -> bool:
        """Writes a line, as an output reports errors only for new lines. Returns whether it is unhealthy."""
        self.write(b"more\n")
        return self.is_unhealthy()

    def texts(self) -> list[bytes]:
        return texts(self._stack.settings, self._topic)

    def await_texts(self, *expected: bytes) -> None:
        wait_until(lambda: len(self.texts()) >= len(expected), f"{expected} to come")
        assert self.texts() == [*expected]


@pytest.fixture
def broker(stack: Stack) -> Iterator[FailingBroker]:
    with FailingBroker(stack.settings.port_kafka) as failing:
        yield failing


@pytest.fixture
def collector(
    stack: Stack, broker: FailingBroker, tmp_path: Path, request
) -> Iterator[Callable[..., Collector]]:
    running: list[Collector] = []

    def begin(linger: int = 50) -> Collector:
        redirect = {
            "LD_PRELOAD": str(_detour(tmp_path)),
            "REDIRECT_FROM": str(stack.settings.port_kafka),
            "REDIRECT_TO": str(broker.port),
        }
        running.append(Collector(stack, tmp_path, f"failing-{request.node.name}", linger, redirect))
        return running[0]

    yield begin
    for each in running:
        each.stop()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def _detour(directory: Path) -> Path:
    """Compiles redirect_port.c."""
    library = directory / "redirect_port.so"
    source = Path(__file__).with_name("redirect_port.c")
    subprocess.run(["gcc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def test_messages_lost_by_a_broker_and_then_refused_arrive_once_and_in_order(broker, collector):
    shipping = collector()
    shipping.write(b"one\n")
    shipping.await_texts(b"one")
    broker.do(Fault.LOSE, Fault.REFUSE)
    shipping.write(b"two\n")
    assert broker.holds.wait(LIMIT_SECONDS)
    shipping.write(b"three\n")
    shipping.await_texts(b"one", b"two", b"three")
    assert broker.done
    shipping.write(b"four\n")
    shipping.await_texts(b"one", b"two", b"three", b"four")


def test_a_collector_with_a_failed_producer_continues_after_a_restart(broker, collector):
    """Version 1 ends, and has lost its queue. Newer versions drop lines and are unhealthy until a restart."""
    shipping = collector()
    shipping.write(b"one\n")
    shipping.await_texts(b"one")
    broker.do(Fault.GIVE_UP)
    shipping.write(b"lost\n")
    wait_until(lambda: broker.done, "the producer to give up")
    shipping.write(b"two\n")
    if shipping.is_version_1:
        assert shipping.process.wait(LIMIT_SECONDS) != 0
        shipping.start()
        shipping.await_texts(b"one", b"two")
    else:
        wait_until(shipping.fails_with_another_line, "the collector to be unhealthy")
        shipping.stop()
        shipping.start()
    shipping.write(b"three\n")
    wait_until(lambda: b"three" in shipping.texts(), "the line after the restart")
    assert b"lost" not in shipping.texts()


def test_queued_lines_are_sent_when_the_collector_stops(collector):
    shipping = collector(linger=1200)  # longer than Fluent Bit takes to end
    shipping.write(b"one\n")
    shipping.await_texts(b"one")
    shipping.write(b"two\nthree\n")
    wait_until(shipping.has_read_everything, "the lines to be read")
    shipping.stop()
    shipping.await_texts(b"one", b"two", b"three")
