"""Fluent Bit's stored chunks survive being closed and opened again, and the kill of its process."""

import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from e2e.topics import make_topic, texts
from tailrace_local.components.fluentbit import FluentBit

LOGS = 3
BURSTS = 20

SERVICE = """
[SERVICE]
    Flush                     {flush}
    storage.path              {directory}/buffer
    storage.backlog.mem_limit 64M
    storage.max_chunks_up     {chunks_up}
[OUTPUT]
    Name    kafka
    Match   *
    Format  msgpack
    Brokers 127.0.0.1:{port}
    Topics  {topic}
"""
INPUT = """
[INPUT]
    Name           tail
    Tag            {log}
    Path           {directory}/{log}
    DB             {directory}/{log}.db
    Read_From_Head On
    storage.type   filesystem
"""


@pytest.mark.parametrize("chunks_up", [1, 64])
def test_lines_of_stored_chunks_arrive_once(stack, tmp_path, chunks_up):
    """With one open chunk, Fluent Bit closes the others and opens them again for each write, as on a busy
    machine. An open chunk of a killed Fluent Bit ends with zeros."""
    topic = f"collector_chunks_{chunks_up}"
    make_topic(stack.settings, topic)
    logs = [tmp_path / f"{number}.log" for number in range(LOGS)]
    written = {log: [burst_of(log, number) for number in range(BURSTS)] for log in logs}
    with fluent_bit(stack, tmp_path, logs, topic, flush=3600, chunks_up=chunks_up) as collector:
        for burst in range(BURSTS):
            for log in logs:
                with log.open("ab") as file:
                    file.write(written[log][burst])
            wait_until(lambda: all(is_read(log) for log in logs), f"burst {burst} to be read")
        collector.send_signal(signal.SIGKILL)
        collector.wait(LIMIT_SECONDS)
    with fluent_bit(stack, tmp_path, logs, topic, flush=1, chunks_up=64) as collector:
        wait_until(lambda: not any((tmp_path / "buffer").rglob("*.flb")), "the buffer to be empty")
        assert collector.poll() is None, (tmp_path / "output").read_text()
    lines = b"".join(burst for bursts in written.values() for burst in bursts).splitlines()
    assert sorted(texts(stack.settings, topic)) == sorted(lines)


def burst_of(log: Path, number: int) -> bytes:
    """Returns the lines that are written to the log at once."""
    return b"".join(b"line %d of burst %d of %s\n" % (line, number, log.name.encode()) for line in range(3))


@contextmanager
def fluent_bit(
    stack: Stack, directory: Path, logs: Sequence[Path], topic: str, *, flush: int, chunks_up: int
) -> Iterator[subprocess.Popen]:
    """Runs Fluent Bit for these logs, with chunks in `directory`. It sends these every `flush` seconds."""
    service = SERVICE.format(
        flush=flush, directory=directory, chunks_up=chunks_up, port=stack.settings.port_kafka, topic=topic
    )
    inputs = [INPUT.format(log=log.name, directory=directory) for log in logs]
    configuration = directory / "collector.conf"
    configuration.write_text("".join([service, *inputs]))
    with (directory / "output").open("ab") as output:
        process = subprocess.Popen(
            [FluentBit(stack.settings, stack.home).program(), "-c", configuration],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(LIMIT_SECONDS)


def is_read(log: Path) -> bool:
    """Returns whether Fluent Bit has stored the whole file in a chunk."""
    with (
        suppress(sqlite3.OperationalError),
        closing(sqlite3.connect(f"file:{log}.db?mode=ro", uri=True)) as offsets,
    ):
        return offsets.execute("SELECT offset FROM in_tail_files").fetchall() == [(os.path.getsize(log),)]
    return False
