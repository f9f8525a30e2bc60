"""A real server that writes its logs to files and tables, and a puller of the tables that is killed."""

import itertools
import json
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pymysql
import pytest

from e2e.limits import LIMIT_SECONDS
from tailrace.config.resources import REPOSITORY
from tailrace_pull.config import Clients, Entry
from tailrace_pull.log_tables import SqlTables
from tailrace_pull.remote import PermissionMissingError, RemoteError
from tailrace_pull.state import LogState, PulledFile
from tailrace_pull.table_reading import Position, TableReader

PULLER = "log_puller"
ARCHIVE = "log_archive"
LOGS = ("slow.log", "general.log")
SETTINGS = ("log_output", "slow_query_log", "general_log", "long_query_time", "min_examined_row_limit")
STATEMENTS = (
    "SELECT {n} AS a",
    "SELECT 'ü\n# Time: 2026-01-01T00:00:00.000000Z\n# User@Host: x[x] @ h []', {n}",
    "INSERT INTO rows_of_tables (note) VALUES ('{n}')",
    "SELECT count(*) FROM rows_of_tables WHERE note <> 'a;b' /* {n} */",
    "UPDATE rows_of_tables SET note = concat(note, 'x') WHERE id = {n} LIMIT 1",
    "SELECT no_such_column_{n}",
)


class TableServer:
    """Runs statements on a server, and rotates its tables."""

    def __init__(self, socket: Path, directory: Path) -> None:
        self.option_file = directory / "puller.cnf"
        self.option_file.write_text(f"[client]\nuser={PULLER}\npassword='x'\nsocket={socket}\n")
        self.option_file.chmod(0o600)
        self.socket = socket
        self._numbers = itertools.count(1)
        self._admin = self.connect("root", "")
        ((data, *names),) = self.run("SELECT @@datadir, @@slow_query_log_file, @@general_log_file")
        self._logs = dict(zip(LOGS, (Path(data) / name for name in names), strict=True))
        self._before: dict[str, int] = {}

    def connect(self, user: str, password: str) -> pymysql.Connection:
        return pymysql.connect(
            unix_socket=str(self.socket), user=user, password=password, charset="utf8mb4", autocommit=True
        )

    def run(self, *statements: str) -> list[tuple]:
        with self._admin.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    @contextmanager
    def logging(self) -> Iterator[None]:
        """Logs every statement to files and to empty tables; the account of the puller has its grants."""
        self._admin.ping(reconnect=True)
        (saved,) = self.run("SELECT " + ", ".join(f"@@GLOBAL.{name}" for name in SETTINGS))
        self.run(
            "SET GLOBAL log_output = 'FILE,TABLE', GLOBAL slow_query_log = 0, GLOBAL general_log = 0",
            "SET GLOBAL long_query_time = 0, GLOBAL min_examined_row_limit = 0",
            f"CREATE DATABASE {ARCHIVE}",
            "CREATE DATABASE tables_of_rows",
            "CREATE TABLE tables_of_rows.rows_of_tables (id INT AUTO_INCREMENT PRIMARY KEY, note TEXT)",
            f"CREATE USER '{PULLER}'@'localhost' IDENTIFIED BY 'x'",
            *(
                f"GRANT SELECT ON {what} TO '{PULLER}'@'localhost'"
                for what in ("mysql.slow_log", f"{ARCHIVE}.*")
            ),
            f"GRANT SELECT ON mysql.general_log TO '{PULLER}'@'localhost'",
            *("TRUNCATE mysql.slow_log", "TRUNCATE mysql.general_log"),
        )
        self._admin.close()
        self._admin = self.connect("root", "")
        self._watcher = self.connect("root", "")
        with self._watcher.cursor() as cursor:  # what it asks is in no log
            cursor.execute("SET SESSION long_query_time = 1000000, SESSION sql_log_off = 1")
        self._before = {name: len(self.file(name)) for name in LOGS}
        self.run("SET GLOBAL slow_query_log = 1", "SET GLOBAL general_log = 1")
        try:
            yield
        finally:
            self._stop_logging(saved)

    def _stop_logging(self, saved: tuple) -> None:
        values = ", ".join(f"GLOBAL {name} = {value!r}" for name, value in zip(SETTINGS, saved, strict=True))
        self.run(
            f"SET {values}",
            *(f"DROP DATABASE {name}" for name in (ARCHIVE, "tables_of_rows")),
            f"DROP USER '{PULLER}'@'localhost'",
        )
        self._admin.close()
        self._watcher.close()

    def work(self, chosen: Random, count: int) -> None:
        """Runs ordinary statements in one new session; returns when all of them are logged."""
        session = self.connect("root", "")
        session.select_db("tables_of_rows")
        with session.cursor() as cursor:
            for _ in range(count):
                statement = chosen.choice(STATEMENTS).format(n=next(self._numbers))
                try:
                    cursor.execute(statement)
                except pymysql.err.OperationalError as error:
                    assert "no_such_column" in str(error)
        number = session.thread_id()
        session.close()
        self._await_end(number)

    def _await_end(self, session: int) -> None:
        """Waits until the server has ended a session. It logs a statement after the client has its answer."""
        deadline = time.monotonic() + LIMIT_SECONDS
        with self._watcher.cursor() as cursor:
            while cursor.execute(f"SELECT id FROM information_schema.PROCESSLIST WHERE id = {session}"):
                assert time.monotonic() < deadline, f"session {session} does not end"
                time.sleep(0.005)

    def rotate(self, name: str = "slow_log") -> None:
        number = next(self._numbers)
        self.run(
            f"CREATE TABLE mysql.{name}_new LIKE mysql.{name}",
            f"RENAME TABLE mysql.{name} TO {ARCHIVE}.{name}_{number:06}, mysql.{name}_new TO mysql.{name}",
        )

    def rows_of_others(self) -> int:
        """Counts the rows of all slow log tables, without those of the puller's account."""
        names = self.run(
            "SELECT concat(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES "
            f"WHERE TABLE_SCHEMA IN ('mysql', '{ARCHIVE}') AND TABLE_NAME LIKE 'slow%'"
        )
        where = f"WHERE user_host NOT LIKE '{PULLER}[%'"
        self.run("SET GLOBAL slow_query_log = 0")
        return sum(self.run(f"SELECT count(*) FROM {name} {where}")[0][0] for (name,) in names)

    def reader(self, source: str = "slowlog") -> TableReader:
        entry = Entry("db", "db", source, "table", defaults_file=str(self.option_file), archive=ARCHIVE)
        reader = Clients().logs(entry)
        assert isinstance(reader, TableReader)
        return reader

    def file(self, name: str) -> bytes:
        log = self._logs[name]
        return log.read_bytes() if log.exists() else b""

    def offset(self, name: str) -> int:
        """Returns where in a file `logging` began."""
        return self._before[name]

    def file_since(self, name: str) -> bytes:
        """Returns what the server has written to a file since `logging` began."""
        return self.file(name)[self._before[name] :]


class TablePuller:
    """Visits the tables of one log, and keeps what transactions would have stored."""

    def __init__(self, reader: TableReader) -> None:
        self.reader = reader
        self.state = LogState()
        self.texts: dict[int, bytes] = {}
        """What was stored, by the number of the table."""
        self.sizes: dict[int, int] = {}
        """The size of each table in its last census."""
        self._numbers = itertools.count(1)

    def visit(self, max_bytes: int = 8 << 20, is_killed: bool = False) -> bool:
        """Returns whether nothing is left. A killed visit stores nothing."""
        stored = LogState.from_json(self.state.to_json())
        done = self.reader.visit(stored, lambda: next(self._numbers), 0, max_bytes)
        if is_killed:
            return False
        for run in done.runs:
            assert run.offset == len(self.texts.get(run.file.number, b"")), "twice, or left out"
            self.texts[run.file.number] = self.texts.get(run.file.number, b"") + run.lines
        self.state = done.state
        self.sizes |= {file.number: file.size for file in self.state.files if file.missing_since is None}
        return done.is_complete

    def visit_until_read(self) -> None:
        for _ in range(1000):
            if self.visit():
                return
        raise AssertionError("not read to the end")

    def text(self) -> bytes:
        """Returns the text of all tables, in the order of their first times."""
        return b"".join(sorted(self.texts.values()))

    def own(self) -> int:
        return sum(Position.parse(file.position).own for file in self.state.files)

    def live(self) -> PulledFile:
        return self.state.files[-1]


class Disturbed(SqlTables):
    """Tables on which something happens between two requests of the puller."""

    def __init__(self, server: TableServer, act) -> None:
        reader = server.reader().tables
        super().__init__(reader._address, "slowlog", ARCHIVE)
        self._act = act

    def names(self):
        self._act()
        return super().names()

    def first(self, table):
        self._act()
        return super().first(table)

    def entries(self, table, skip, limit):
        self._act()
        return super().entries(table, skip, limit)


def _by_session(events: Iterable[tuple]) -> list[tuple]:
    """Sorts by session only: the server may write the end of one and the start of another in either order."""
    return sorted(events, key=lambda event: event[-1])


def check_events(server: TableServer, slow: bytes, general: bytes, directory: Path) -> None:
    """Both logs have the same events in the file and in the table, with the same query ids."""
    inputs = {"slow.log": slow, "general.log": general}
    for name, text in inputs.items():
        (directory / f"table-{name}").write_bytes(text)
        (directory / f"file-{name}").write_bytes(server.file(name))
    files = [directory / f"{kind}-{name}" for name in inputs for kind in ("file", "table")]
    done = subprocess.run(
        [REPOSITORY / "bin" / "tailrace", "parse", "--json", *files], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    events = [each for each in events if each["user"] != PULLER]
    for name, described in (("slow.log", _slow_event), ("general.log", _general_event)):
        of_file = [
            each
            for each in events
            if each["log"].endswith(f"file-{name}") and each["entry_offset"] >= server.offset(name)
        ]
        of_table = [each for each in events if each["log"].endswith(f"table-{name}")]
        assert of_file, "no events"
        left, right = (_by_session(map(described, found)) for found in (of_file, of_table))
        assert left == right, difference(left, right)
        if name == "slow.log":
            check_databases(of_file, of_table)


def check_databases(of_file: list[dict], of_table: list[dict]) -> None:
    """Rows have their own database. In the file, a session without one has that of the previous entry."""
    found = [
        _by_session((each["database"], each["flags"], each["connection_id"]) for each in events)
        for events in (of_file, of_table)
    ]
    for (named, flags, _), (stored, of_row, _) in zip(*found, strict=True):
        assert "database_inherited" not in of_row
        assert stored == named or "database_inherited" in flags


def _slow_event(event: dict) -> tuple:
    names = ("query_id", "user", "host", "query_time", "lock_time", "rows_sent", "rows_examined")
    return tuple(event[name] for name in (*names, "connection_id"))


def _general_event(event: dict) -> tuple:
    return event.get("query_id"), event["command"], event["connection_id"]


def check_both_logs(server: TableServer, directory: Path) -> None:
    """The rows of renamed and live tables are the events of the files, without the puller's own."""
    chosen = Random(1)
    with server.logging():
        slow, general = TablePuller(server.reader()), TablePuller(server.reader("general"))
        server.work(chosen, 12)
        slow.visit()
        server.rotate()
        server.work(chosen, 12)
        server.rotate("general_log")
        server.work(chosen, 3)
        slow.visit_until_read()
        general.visit_until_read()
        check_events(server, slow.text(), general.text(), directory)
    assert slow.own() and general.own()
    assert b"tailrace */" not in slow.text() + general.text()


def check_truncate(server: TableServer) -> None:
    """A TRUNCATE between two visits is recorded as a gap of one byte, because the lost rows are unknown."""
    chosen = Random(2)
    with server.logging():
        puller = TablePuller(server.reader())
        server.work(chosen, 3)
        puller.visit_until_read()
        first = puller.live()
        read = len(puller.texts[first.number])
        server.run(f"CREATE TABLE {ARCHIVE}.slow_log_copy LIKE mysql.slow_log")
        server.run(f"INSERT INTO {ARCHIVE}.slow_log_copy SELECT * FROM mysql.slow_log")
        puller.visit_until_read()
        assert {file.name for file in puller.state.files} == {"mysql.slow_log"}, "a copy was read"
        server.run(f"DROP TABLE {ARCHIVE}.slow_log_copy", "TRUNCATE mysql.slow_log")
        server.work(chosen, 3)
        puller.visit_until_read()
        puller.visit_until_read()
    assert puller.sizes[first.number] > len(puller.texts[first.number]) >= read
    assert puller.sizes[puller.live().number] == len(puller.texts[puller.live().number])


def check_refusals(server: TableServer) -> None:
    """Each reported problem has a statement that fixes it."""
    with server.logging():
        puller = TablePuller(server.reader())
        server.run(f"REVOKE SELECT ON mysql.slow_log FROM '{PULLER}'@'localhost'")
        _fix(server, puller, "may not read it", f"GRANT SELECT ON mysql.slow_log TO '{PULLER}'@'localhost';")
        server.run("SET GLOBAL log_output = 'FILE'")
        _fix(server, puller, "log_output is FILE", "SET GLOBAL log_output = 'TABLE';")
        server.run("SET GLOBAL slow_query_log = 0")
        _fix(server, puller, "slow_query_log is OFF", "SET GLOBAL slow_query_log = ON;")
        server.run("SET GLOBAL log_output = 'FILE,TABLE'")
        server.option_file.write_text("[client]\npassword=x\n")
        with pytest.raises(PermissionMissingError, match="expected `user`"):
            TablePuller(server.reader()).visit()


def _fix(server: TableServer, puller: TablePuller, problem: str, fix: str) -> None:
    with pytest.raises(RemoteError, match=problem) as raised:
        puller.visit()
    assert raised.value.right == fix
    server.run(fix)
    puller.visit_until_read()


def check_seed(server: TableServer, seed: int) -> None:
    """Pulls while tables are renamed between any two requests and visits are killed."""
    chosen = Random(seed)
    with server.logging():

        def act() -> None:
            if (choice := chosen.random()) < 0.2:
                server.work(chosen, chosen.randrange(4))
            elif choice < 0.25:
                server.rotate()

        puller = TablePuller(TableReader(Disturbed(server, act)))
        for _ in range(30):
            puller.visit(chosen.choice((300, 8 << 20)), is_killed=chosen.random() < 0.2)
        puller.reader = server.reader()
        puller.visit_until_read()
        assert _numbers_of(puller.text()) == _numbers_of(server.file_since("slow.log"))


def _numbers_of(text: bytes) -> list[bytes]:
    """Returns the statements of `TableServer.work`, in order."""
    return [line for line in text.splitlines() if line.startswith((b"SELECT", b"INSERT", b"UPDATE"))]


def difference(left: list[tuple], right: list[tuple]) -> str:
    """Returns the first difference of two lists, for messages."""
    at = next((i for i, both in enumerate(zip(left, right, strict=False)) if both[0] != both[1]), -1)
    return f"{len(left)} and {len(right)}; at {at}: {left[at]} and {right[at]}"
