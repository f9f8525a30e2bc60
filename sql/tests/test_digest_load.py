"""What a server counted for its digests between samples: resets, wrapped times, repetitions."""

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from random import Random

import pymysql
import pytest
from pymysql.constants import CLIENT
from test_server_facts import AT, record

from e2e.mysql import EIGHT, FIVE, Installation, MySqlError, Server
from tailrace.snapshots.rows import COUNTERS, SAMPLE, rows_of
from tailrace_capture import digests
from tailrace_capture.dsn import Password, parse
from tailrace_capture.server import connect

MYSQL_PORT = int(os.environ.get("DIGEST_LOAD_PORT", "22655"))
WRAP = 2**64
DIGEST = "ab" * 32


def sample(minute: int, digest: str = DIGEST, began: float = AT - 3600, **counters: int) -> dict:
    attributes = {"db": "shop", "digest": digest, "digest_text": "SELECT ?", SAMPLE: ""}
    times = {"server_at": f"{AT + 60 * minute:.6f}", "first_seen": f"{began:.6f}"}
    counts = {name: str(counters.get(name, 0)) for name in COUNTERS}
    return {"key": f"shop.{digest}", "since": AT, "attributes": {**attributes, **times, **counts}}


@pytest.fixture
def stored(user):
    def store(instance: str, *minutes: list[dict]) -> None:
        for _ in range(2):  # at least once
            for number, facts in enumerate(minutes):
                of_minute = record(AT + 60 * number, kind="digests", instance=instance, facts=facts)
                rows: dict[str, list[dict]] = {}
                for table, row in rows_of(of_minute):
                    known = {**row, "query_id": 7} if table == "digest_samples" else row
                    row = {name: value for name, value in known.items() if name != SAMPLE}
                    rows.setdefault(table, []).append(row)
                for table, of_table in rows.items():
                    user("facts").insert(f"tailrace.{table}", of_table)

    return store


@pytest.fixture
def load(user):
    def rows(instance: str) -> list[dict]:
        return user("reader_developer").rows(
            "SELECT * FROM tailrace.digest_load_1m WHERE instance = %s ORDER BY at, digest".replace(
                "%s", f"'{instance}'"
            )
        )

    return rows


def test_the_first_sample_is_a_baseline_and_later_ones_are_differences(stored, load):
    stored(
        "plain",
        [sample(0, statements=1000, timer_ps=5 * 10**12)],
        [sample(1, statements=1003, timer_ps=8 * 10**12, rows_examined=12)],
        [sample(2, statements=1003, timer_ps=8 * 10**12, rows_examined=12)],
        [sample(3, statements=1004, timer_ps=9 * 10**12, rows_examined=13)],
    )
    found = load("plain")
    assert [(int(row["statements"]), row["seconds"], int(row["rows_examined"])) for row in found] == [
        (3, 3.0, 12),
        (1, 1.0, 1),
    ]
    assert {int(row["query_id"]) for row in found} == {7}


def test_a_digest_that_appears_later_counts_from_its_first_statement(stored, load):
    new = {"digest": "cd" * 32, "began": AT + 61}
    stored("new", [sample(0, statements=1)], [sample(2, statements=5, **new)])
    assert [int(row["statements"]) for row in load("new")] == [5]


def test_counters_that_start_again_count_from_zero(stored, load):
    stored(
        "reset",
        [sample(0, statements=100, rows_sent=50)],
        [sample(1, statements=120, rows_sent=60, began=AT + 30)],  # TRUNCATE, or a restart
        [sample(2, statements=3, rows_sent=2, began=AT + 30)],  # fewer, with the same start
    )
    found = load("reset")
    assert [(int(row["statements"]), int(row["rows_sent"]), row["is_reset"]) for row in found] == [
        (120, 60, 1),
        (3, 2, 1),
    ]


def test_times_that_wrap_are_differences_too(stored, load):
    stored(
        "wrap",
        [sample(0, statements=1, timer_ps=WRAP - 10**12)],
        [sample(1, statements=2, timer_ps=2 * 10**12)],
    )
    assert [row["seconds"] for row in load("wrap")] == [3.0]


@pytest.fixture(params=[EIGHT, FIVE], ids=lambda package: package.version)
def database(request, tmp_path):
    cache = Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    try:
        found = Server(Installation.install(request.param, cache), tmp_path / "db", 1, MYSQL_PORT)
    except (MySqlError, OSError) as error:
        pytest.skip(f"no MySQL here: {error}")
    found.create()
    found.start()
    yield found
    found.stop()


@pytest.mark.long
def test_the_sum_of_differences_is_what_a_real_server_counted(database, stored, load):
    """Executes statements between samples, empties the counters, restarts, and loses a sample."""
    chosen, executed, instance = Random(1), dict.fromkeys(STATEMENTS, 0), database.directory.parent.name
    database.run("CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY, a INT)", *STATEMENTS)
    minutes = [facts_of(database, all_of_them=True)]
    for number in range(6):
        for _ in range(20):
            statement = chosen.choice(STATEMENTS)
            database.run(statement)
            executed[statement] += 1
        minutes.append(facts_of(database))
        if number == 2:
            database.run("TRUNCATE performance_schema.events_statements_summary_by_digest")
        if number == 4:
            database.stop()
            database.start()
    del minutes[2]
    stored(instance, *minutes)
    found = [row for row in load(instance) if "shop" in row["digest_text"]]
    for function, statement in zip(FUNCTIONS, STATEMENTS, strict=True):
        of_statement = [int(row["statements"]) for row in found if function in row["digest_text"]]
        assert sum(of_statement) == executed[statement]


TABLE_SIZE = 200
PACKET, PACKETS, SESSIONS = 250, 20, 4


@pytest.mark.long
def test_a_busy_server_whose_table_is_full_counts_each_statement_once(database, stored, load):
    """Sessions execute statements of twice as many digests as the table has rows, while it is sampled."""
    instance = f"full-{database.installation.root.name}"
    database.stop()
    database.start(f"--performance-schema-digests-size={TABLE_SIZE}")
    minutes, counted = [facts_of(database, all_of_them=True)], selects(database)
    with ThreadPoolExecutor(SESSIONS) as sessions:
        running = [sessions.submit(execute_packets, database) for _ in range(SESSIONS)]
        executed = 0
        for each in as_completed(running):
            minutes.append(facts_of(database))
            executed += each.result()
    minutes.append(facts_of(database, all_of_them=True))
    counted = selects(database) - counted
    stored(instance, *minutes)
    found = load(instance)
    assert executed == SESSIONS * PACKETS * PACKET
    # The row of those without room also has other statements: sessions and samples set variables.
    others = 8 * (SESSIONS * PACKETS + 2 * len(minutes))
    # MySQL adds to a row without a lock, so a few of what sessions add at the same time are not counted.
    assert executed <= counted
    assert 0.999 * counted <= sum(int(row["statements"]) for row in found) <= counted + others
    assert any(row["digest"] == digests.OTHER for row in found)
    assert sum(int(row["statements"]) for row in found if row["digest"] == digests.OTHER) > executed // 4


def execute_packets(server: Server) -> int:
    connection = pymysql.connect(
        unix_socket=str(server.socket), user="root", autocommit=True, client_flag=CLIENT.MULTI_STATEMENTS
    )
    with connection, connection.cursor() as cursor:
        for number in range(PACKETS):
            names = (f"c{(number * PACKET + each) % (2 * TABLE_SIZE)}" for each in range(PACKET))
            cursor.execute("; ".join(f"SELECT 1 AS {name}" for name in names))
            while cursor.nextset():
                pass
    return PACKETS * PACKET


def selects(server: Server) -> int:
    ((_, count),) = server.run("SHOW GLOBAL STATUS LIKE 'Com_select'")
    return int(count)


FUNCTIONS = ("COUNT", "MAX")
STATEMENTS = ("SELECT COUNT(*) FROM shop.t WHERE a = 5", "SELECT MAX(id) FROM shop.t WHERE a = 7")


def facts_of(server: Server, all_of_them: bool = False) -> list[dict]:
    connection = connect(parse(f"mysql://root@localhost/?socket={server.socket}"), Password(""), 10, "test")
    found = digests.read_all(connection) if all_of_them else digests.read(connection)
    facts = [{"key": fact.key, "since": AT, "attributes": fact.attributes} for fact in found]
    connection.close()
    return facts
