"""A table with the columns of `performance_schema.error_log` on a real server, and a puller of it that is
killed.

The MySQL 8.0.15 of the tests does not have this table. So a table of another schema is filled with the
messages of the server's own error log, and its oldest rows are deleted as MySQL does.
"""

import itertools
import re
from pathlib import Path
from random import Random

import pymysql

from tailrace_pull import option_file
from tailrace_pull.error_log_table import ErrorLogTable
from tailrace_pull.sql_log import TableName
from tailrace_pull.state import LogState

RING = TableName("error_rings", "error_log")
COLUMNS = """(LOGGED TIMESTAMP(6) NOT NULL PRIMARY KEY, THREAD_ID BIGINT UNSIGNED,
    PRIO ENUM('System','Error','Warning','Note') NOT NULL, ERROR_CODE VARCHAR(10), SUBSYSTEM VARCHAR(7),
    DATA TEXT NOT NULL)"""
LINE = re.compile(rb"(\S{10})T(\S{15})Z (\d+) \[(System|Error|Warning|Note)\] \[(MY-\d+)\] \[(\w+)\] (.*)\n")
ROWS = 12
"""Rows that the ring keeps."""
MICROS = 1_000_000


class Ring:
    """Writes messages, and knows the text of each."""

    def __init__(self, socket: Path, options: Path) -> None:
        self._admin = pymysql.connect(
            unix_socket=str(socket), user="root", charset="utf8mb4", autocommit=True
        )
        options.write_text(f"[client]\nuser=root\nsocket={socket}\n")
        options.chmod(0o600)
        self.reader = ErrorLogTable(lambda: option_file.read(options), RING)
        self.run("SET time_zone = '+00:00'", f"CREATE DATABASE IF NOT EXISTS {RING.schema}")
        self.written: list[bytes] = []
        self.first = 0
        """Number of the oldest message in the ring."""

    def run(self, *statements: str, values: tuple[object, ...] = ()) -> None:
        with self._admin.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement, values)

    def create(self) -> None:
        self.run(f"DROP TABLE IF EXISTS {RING}", f"CREATE TABLE {RING} {COLUMNS}")
        self.written, self.first = [], 0

    def write(self, line: bytes) -> None:
        date, time, thread, *others = LINE.fullmatch(line).groups()
        values = (f"{date.decode()} {time.decode()}", int(thread), *others)
        self.run(f"INSERT INTO {RING} VALUES (%s, %s, %s, %s, %s, %s)", values=values)
        self.written.append(line)
        if len(self.written) - self.first > ROWS:
            self.run(f"DELETE FROM {RING} ORDER BY LOGGED LIMIT 1")
            self.first += 1

    def empty(self) -> None:
        """The server starts again, and does not read its file."""
        self.run(f"TRUNCATE {RING}")
        self.first = len(self.written)

    def close(self) -> None:
        self.run(f"DROP DATABASE {RING.schema}")
        self._admin.close()


def check_error_log(socket: Path, log: Path, options: Path, seeds: range) -> None:
    """The text of the table equals the file of the server; no message is read twice, and messages are only
    lost with a gap in their place."""
    lines = [line for line in log.read_bytes().splitlines(keepends=True) if LINE.fullmatch(line)]
    ring = Ring(socket, options)
    try:
        ring.create()
        for line in lines[:ROWS]:
            ring.write(line)
        (run,) = ring.reader.visit(LogState(), itertools.count(1).__next__, 0.0, 1 << 20).runs
        assert run.lines == b"".join(lines[:ROWS])
        for seed in seeds:
            Course(ring, seed).check()
    finally:
        ring.close()


class Course:
    """Writes, reads, kills the puller and restarts the server in the order of a seed."""

    def __init__(self, ring: Ring, seed: int) -> None:
        self.ring, self.random, self.name = ring, Random(seed), f"seed {seed}"
        self.micros = 0
        self.state = LogState()
        self.read = self.gaps = self.losses = 0
        """Bytes, gaps, and how often the last message that was read had left the ring."""
        self.next = 0
        """Number of the message that is read next."""

    def check(self) -> None:
        self.ring.create()
        for _ in range(40):
            self.write(self.random.choice((0, 1, 2, 3, 3 + ROWS)))
            if self.random.random() < 0.05:
                self.ring.empty()
            self.visit(is_killed=self.random.random() < 0.3)
        assert self.gaps == self.losses, self.name
        assert self.losses, self.name

    def write(self, count: int) -> None:
        for _ in range(count):
            self.micros += self.random.choice((1, MICROS // 2))
            minute, second = divmod(self.micros / MICROS, 60)
            text = f"é [x] {self.micros} " + "y" * self.random.choice((0, 200))
            line = f"2026-11-30T00:{minute:02.0f}:{second:09.6f}Z 7 [Warning] [MY-010055] [Server] {text}\n"
            self.ring.write(line.encode())

    def visit(self, is_killed: bool) -> None:
        numbers, room = itertools.count(1), self.random.choice((100, 1 << 20))
        done = self.ring.reader.visit(self.state.copy(), numbers.__next__, 1.0, room)
        if is_killed:
            return  # before Kafka confirmed it
        has_rows = len(self.ring.written) > self.ring.first
        if self.next and has_rows and self.ring.first >= self.next:
            self.losses += 1
        self.next = max(self.next, self.ring.first) if has_rows else self.next
        self.state = LogState.from_json(done.state.to_json())
        self.gaps += len(done.gaps)
        for run in done.runs:
            end = self.next + run.lines.count(b"\n")
            assert run.offset == self.read + self.gaps, self.name
            assert run.lines == b"".join(self.ring.written[self.next : end]), self.name
            self.read, self.next = self.read + len(run.lines), end
