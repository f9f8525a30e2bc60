"""Fluent Bit's stored chunks survive being closed, opened again and damaged, and the end of its process."""

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
    with fluent_bit(stack, tmp_path, logs, topic, flush=3600, chunks_up=chunks_up) as collector:
        for burst in range(BURSTS):
            write_burst(logs, burst)
            wait_until(lambda: all(is_read(log) for log in logs), f"burst {burst} to be read")
        collector.send_signal(signal.SIGKILL)
        collector.wait(LIMIT_SECONDS)
    with fluent_bit(stack, tmp_path, logs, topic, flush=1, chunks_up=64) as collector:
        wait_until(lambda: not any((tmp_path / "buffer").rglob("*.flb")), "the buffer to be empty")
        assert collector.poll() is None, (tmp_path / "output").read_text()
    lines = b"".join(burst_of(log, burst) for burst in range(BURSTS) for log in logs).splitlines()
    assert sorted(texts(stack.settings, topic)) == sorted(lines)


def test_zeros_in_a_closed_chunk_are_no_lines(stack, tmp_path):
    """A start removes zeros from stored chunks, but a running Fluent Bit opens a damaged chunk again. The
    output took each zero for the line before it, whose memory is free."""
    topic = "collector_chunks_zeros"
    make_topic(stack.settings, topic)
    logs = [tmp_path / f"{number}.log" for number in range(LOGS)]
    bursts = 0
    damaged: list[Path] = []
    with fluent_bit(stack, tmp_path, logs, topic, flush=1, chunks_up=1) as collector:
        while not damaged:  # until chunks were written and not yet sent
            write_burst(logs, bursts)
            wait_until(lambda: all(is_read(log) for log in logs), f"burst {bursts} to be read")
            collector.send_signal(signal.SIGSTOP)
            damaged = closed_chunks(tmp_path / "buffer", collector.pid)
            for chunk in damaged:
                with chunk.open("ab") as file:
                    file.write(bytes(3))
            bursts += 1
            collector.send_signal(signal.SIGCONT)
        wait_until(
            lambda: collector.poll() is not None or not any((tmp_path / "buffer").rglob("*.flb")),
            "the chunks to be sent",
        )
    assert collector.returncode == 0, (tmp_path / "output").read_text()
    lines = b"".join(burst_of(log, burst) for burst in range(bursts) for log in logs).splitlines()
    assert sorted(texts(stack.settings, topic)) == sorted(lines)


@pytest.mark.parametrize("error", [signal.SIGSEGV, signal.SIGFPE])
def test_a_signal_of_an_error_ends_the_collector_without_a_handler(stack, tmp_path, error):
    """Fluent Bit's handler needs the allocator: after an error in the allocator it waited forever, and
    nothing restarted the process. After other errors it ended the process by SIGABRT."""
    topic = f"collector_{error.name}"
    make_topic(stack.settings, topic)
    log = tmp_path / "0.log"
    log.write_bytes(burst_of(log, 0))
    with fluent_bit(stack, tmp_path, [log], topic, flush=3600, chunks_up=64) as collector:
        wait_until(lambda: is_read(log), "the log to be read")
        collector.send_signal(error)
        assert collector.wait(LIMIT_SECONDS) == -error


def write_burst(logs: Sequence[Path], number: int) -> None:
    for log in logs:
        with log.open("ab") as file:
            file.write(burst_of(log, number))


def closed_chunks(buffer: Path, pid: int) -> list[Path]:
    """Returns the chunks that the process has not mapped into its memory."""
    mapped = Path(f"/proc/{pid}/maps").read_text()
    return [chunk for chunk in buffer.rglob("*.flb") if str(chunk) not in mapped]


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
