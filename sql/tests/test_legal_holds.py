"""Tests legal holds on a real engine: TTLs delete exactly the rows that no hold selects."""

import itertools
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest
from clickhouse_servers import Server

from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.migrations import expiry
from tailrace.migrations import runner as migration_runner
from tailrace.migrations.migration_files import Dialect
from tailrace.migrations.servers import Servers
from tailrace.retention import archive, holds, selectors
from tailrace.retention.holds import HoldError

ACCESS_DENIED = 497
SHORT = {"query_events": 2, "query_load_1m": 2}
"""The retention in days of the tables of these tests; the old rows are older."""
LONG = {"query_events": 92, "query_load_1m": 400}
NOW = datetime.now(UTC)
OLD, NEW = NOW.replace(hour=10) - timedelta(days=40), NOW - timedelta(hours=3)
EVENTS = 210


@pytest.fixture
def keeping(server: Server, admin: ClickHouse) -> Iterator[ClickHouse]:
    """The administrator's connection. At the end no table keeps rows, and each has its own retention."""
    yield admin
    server.empty_tables()  # before the retention changes: ClickHouse would rewrite their rows
    migration_runner.apply_retention(admin)


def event(number: int, at: datetime, **more: object) -> dict[str, object]:
    return {
        "event_id": str(uuid.uuid4()),
        "event_time": f"{at + timedelta(seconds=number):%Y-%m-%d %H:%M:%S}",
        "instance": f"db{number % 2}",
        "user": f"user{number % 3}",
        "ip": "::ffff:10.0.0.7" if number % 5 == 0 else "10.0.0.8",
        "tables_read": ["shop.cards"] if number % 7 == 0 else ["orders"],
        "query_time": 1.5,
        "weight": 1,
        **more,
    }


def store(admin: ClickHouse) -> None:
    """Stores old and new events of two servers while the retention is long."""
    migration_runner.apply_retention(admin, retention_days=LONG)
    for at in (OLD, NEW):
        rows = [event(number, at) for number in range(EVENTS)]
        admin.insert("tailrace.query_events", rows, async_insert=0)


def expire(admin: ClickHouse) -> None:
    """Makes the old rows expire, and merges until ClickHouse has deleted what it may delete."""
    migration_runner.apply_retention(admin, retention_days=SHORT)
    for table in SHORT:
        admin.execute(f"OPTIMIZE TABLE tailrace.{table} FINAL", alter_sync=2)


def old(admin: ClickHouse, condition: str = "1", table: str = "query_events", at: str = "event_time") -> int:
    where = f"{at} < now() - INTERVAL 10 DAY AND ({condition})"
    return admin.rows(f"SELECT count() AS n FROM tailrace.{table} WHERE {where}")[0]["n"]


def place(user, selector: str, days: dict[str, int] = LONG) -> str:
    id_ = holds.place(user("auditor"), "case 7", selectors.parse(selector), "ines", "a letter")
    migration_runner.apply_retention(user("admin"), retention_days=days)
    return id_


def definition(admin: ClickHouse, table: str) -> str:
    rows = admin.rows(f"SELECT create_table_query AS text FROM system.tables WHERE name = '{table}'")
    return rows[0]["text"]


def test_ttls_delete_exactly_the_rows_that_no_hold_selects_until_its_release(keeping, user):
    store(keeping)
    before = {table: definition(keeping, table) for table in SHORT}
    moment = f"{OLD + timedelta(seconds=100):%Y-%m-%d %H:%M:%S}"
    mapped = f"ip = '::ffff:10.0.0.7' AND event_time < '{moment}'"
    chosen = {
        "instance:db1 user:user2 user:user0": "instance = 'db1' AND user IN ('user0', 'user2')",
        f"client:10.0.0.7 to:{moment.replace(' ', 'T')}": mapped,
        f"table:cards from:{moment.replace(' ', 'T')}": (
            f"has(tables_read, 'shop.cards') AND event_time >= '{moment}'"
        ),
    }
    either = " OR ".join(f"({condition})" for condition in chosen.values())
    of_load = "instance = 'db1' AND user IN ('user0', 'user2')"
    counts = [old(keeping, each) for each in chosen.values()]
    selected, load = old(keeping, either), old(keeping, of_load, "query_load_1m", "minute")
    for selector in chosen:
        place(user, selector)

    expire(keeping)

    assert all(counts) and max(counts) < selected < EVENTS
    assert (old(keeping), old(keeping, either)) == (selected, selected)
    assert [old(keeping, each) for each in chosen.values()] == counts
    assert keeping.rows("SELECT count() AS n FROM tailrace.query_events") == [{"n": selected + EVENTS}]
    assert old(keeping, "1", "query_load_1m", "minute") == load > 0

    for hold in holds.listed(user("auditor")):
        holds.release(user("auditor"), hold.id, "ines", "closed")
        assert holds.release(user("auditor"), hold.id, "omar", "checked").state == holds.RELEASED
    expire(keeping)

    assert (old(keeping), old(keeping, "1", "query_load_1m", "minute")) == (0, 0)
    migration_runner.apply_retention(keeping, retention_days=LONG)
    assert {table: set(definition(keeping, table).split(", ")) for table in SHORT} == {
        table: set(text.split(", ")) for table, text in before.items()
    }


class Load:
    """Inserts old rows of db1 and merges, all the time."""

    def __init__(self, clickhouse: ClickHouse) -> None:
        self.clickhouse = clickhouse
        self.counts, self._stopped = threading.Event(), threading.Event()
        self.counted: list[str] = []
        """Ids of rows that were inserted after `counts` was set."""
        self._threads = [threading.Thread(target=self._insert), threading.Thread(target=self._merge)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def await_counted(self, number: int) -> None:
        while len(self.counted) < number:
            assert all(thread.is_alive() for thread in self._threads)
            self._stopped.wait(0.02)

    def _insert(self) -> None:
        for number in itertools.count():
            if self._stopped.is_set():
                return
            counts = self.counts.is_set()
            rows = [event(2 * number + 1, OLD - timedelta(days=number % 4)) for _ in range(20)]
            self.clickhouse.insert("tailrace.query_events", rows, async_insert=0)
            self.counted.extend(str(row["event_id"]) for row in rows if counts)

    def _merge(self) -> None:
        while not self._stopped.is_set():
            self.clickhouse.execute("OPTIMIZE TABLE tailrace.query_events FINAL")


def test_no_held_row_is_deleted_after_place_returned_although_rows_arrive_and_are_merged(keeping, user):
    """Without the hold each inserted row would be deleted at once."""
    store(keeping)
    migration_runner.apply_retention(keeping, retention_days=SHORT)
    ids = "SELECT toString(event_id) AS id FROM tailrace.query_events WHERE instance = 'db1'"
    with Load(keeping) as load:
        place(user, "instance:db1", SHORT)
        load.counts.set()
        present = {row["id"] for row in keeping.rows(ids)}
        load.await_counted(60)
    keeping.execute("OPTIMIZE TABLE tailrace.query_events FINAL")

    assert present
    assert {*present, *load.counted} - {row["id"] for row in keeping.rows(ids)} == set()
    assert old(keeping, "instance = 'db0'") == 0


def test_a_hold_that_is_placed_while_a_run_applies_ttls_is_not_lost(keeping, user, monkeypatch):
    """The run that placed it could not apply it, because this one has the lock."""
    apply, runs = expiry.apply, []

    def applied(*given: object) -> None:
        if not runs:
            holds.place(user("auditor"), "case 7", selectors.parse("user:user1"), "ines", "a letter")
        runs.append(apply(*given))

    monkeypatch.setattr(expiry, "apply", applied)
    migration_runner.apply_retention(keeping)
    assert len(runs) == 2 and "user1" in definition(keeping, "query_events")


def test_a_part_with_the_values_of_an_earlier_ttl_gets_new_ones(keeping, user):
    """ClickHouse drops a part by its stored values alone, and a changed TTL does not change them."""
    store(keeping)
    place(user, "instance:db1")
    keeping.execute(
        "ALTER TABLE tailrace.query_events MODIFY TTL toDateTime(event_time) + toIntervalDay(92)",
        materialize_ttl_after_modify=0,
    )
    keeping.execute("ALTER TABLE tailrace.query_events MATERIALIZE TTL", mutations_sync=2)
    latest = (
        "SELECT max(toYear(delete_ttl_info_max)) AS year FROM system.parts "
        "WHERE active AND database = 'tailrace' AND table = 'query_events'"
    )
    assert keeping.rows(latest)[0]["year"] < 2100

    migration_runner.apply_retention(keeping, retention_days=LONG)

    assert keeping.rows(latest) == [{"year": 2106}]


def test_migrations_and_changes_of_the_retention_keep_holds(keeping, user):
    store(keeping)
    place(user, "instance:db1")

    migration_runner.apply(keeping, retention_days={**LONG, "query_events": 3})

    text = definition(keeping, "query_events")
    assert "instance IN ('db1')" in text and "toIntervalDay(3)) SETTINGS" in text


def test_a_release_needs_two_people(keeping, user):
    auditor = user("auditor")
    id_ = holds.place(auditor, "case 7", selectors.parse("instance:db1"), "ines", "a letter")

    requested = holds.release(auditor, id_[:6], "ines", "closed")
    assert (requested.state, requested.requested_by) == ("release requested", "ines")
    with pytest.raises(HoldError, match="another person must confirm"):
        holds.release(auditor, id_, " Ines ", "me again")
    assert [hold.id for hold in holds.in_force(auditor)] == [id_]

    released = holds.release(auditor, id_, "omar", "checked")
    assert (released.state, released.released_by, holds.in_force(auditor)) == ("released", "omar", [])
    with pytest.raises(HoldError, match="was released"):
        holds.release(auditor, id_, "omar", "again")


@pytest.mark.parametrize(
    "steps",
    [
        [("confirm_release", "omar")],
        [("request_release", "ines"), ("confirm_release", "INES ")],
        [("confirm_release", "omar"), ("request_release", "ines")],
    ],
)
def test_rows_that_skip_a_step_release_nothing(keeping, user, steps):
    auditor = user("auditor")
    id_ = holds.place(auditor, "case 7", selectors.parse("instance:db1"), "ines", "a letter")
    for action, actor in steps:
        row = {"hold_id": str(uuid.UUID(id_)), "action": action, "actor": actor, "reason": "x"}
        auditor.insert("tailrace.legal_hold_actions (hold_id, action, actor, reason)", [row])

    assert [hold.id for hold in holds.in_force(auditor)] == [id_]


@pytest.mark.parametrize(
    ("name", "can_write"), [("auditor", True), ("reader_compliance", False), ("analyst", False)]
)
def test_actions_are_appended_by_the_auditor_only_and_changed_by_nobody(keeping, user, name, can_write):
    refused = []
    for statement in (
        "INSERT INTO tailrace.legal_hold_actions (hold_id, action, case_name, selector, actor, reason) "
        "VALUES (generateUUIDv4(), 'place', 'c', '{}', 'a', 'r')",
        "INSERT INTO tailrace.legal_hold_actions (hold_id, at, action, actor, reason) "
        "VALUES (generateUUIDv4(), now(), 'confirm_release', 'a', 'r')",
        "ALTER TABLE tailrace.legal_hold_actions DELETE WHERE 1",
        "TRUNCATE TABLE tailrace.legal_hold_actions",
    ):
        try:
            user(name).execute(statement)
            refused.append(False)
        except ClickHouseError as error:
            refused.append(error.code == ACCESS_DENIED)
    assert refused == [not can_write, True, True, True]


def test_names_of_a_selector_cannot_leave_their_literal(keeping, user):
    store(keeping)
    hostile = "user:\"'; DROP TABLE x -- \\\\' OR 1 SETTINGS a = 1\""

    place(user, hostile)
    migration_runner.apply_retention(keeping, retention_days=LONG, report=pytest.fail)

    assert expiry.RECALCULATE in definition(keeping, "query_events")


def test_a_hold_that_cannot_be_read_is_a_problem_and_keeps_no_stack_from_starting(keeping, user, server):
    """The account auditor may insert it, and only the administrator can remove it."""
    row = {"hold_id": str(uuid.uuid4()), "action": holds.PLACE, "case_name": "c", "selector": "{}"}
    row |= {"actor": "ines", "reason": "r"}
    user("auditor").insert(f"tailrace.legal_hold_actions ({', '.join(row)})", [row])
    part = type(server.part)(server.part.settings, server.part.home)  # other modules use that one
    part.provision()
    assert part.problem().startswith("legal holds are not applied: a stored selector cannot be read")
    keeping.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")
    part.provision()
    assert part.problem() == ""


def test_rows_wait_until_the_archive_has_verified_their_day(keeping):
    store(keeping)
    assert not expiry.kept(keeping, LONG).caps, "nothing waits for an archive without any day"
    times, today = {"query_events": "toDateTime(event_time)"}, NOW.date()

    def archived(state: str, rows: int) -> dict[str, date]:
        row = {"table": "query_events", "day": f"{OLD:%Y-%m-%d}", "state": state, "rows": rows}
        at = keeping.rows("SELECT toString(now64(6, 'UTC')) AS at")[0]["at"]
        keeping.insert(f"tailrace.{archive.TABLE}", [{**row, "at": at}], async_insert=0)
        return archive.caps(keeping, times, today)

    caps = [
        archive.caps(keeping, times, today),
        archived("written", EVENTS),
        archived("verified", EVENTS - 1),
        archived("verified", EVENTS),
    ]
    try:
        assert caps == [{"query_events": OLD.date()}] * 3 + [{"query_events": min(NEW.date(), today)}]
        assert archive.states(keeping)["query_events"]["verified"] == 1
        assert expiry.kept(keeping, LONG).caps.keys() == times.keys()
    finally:
        keeping.execute(f"TRUNCATE TABLE tailrace.{archive.TABLE} SYNC")


@pytest.mark.parametrize(("cap", "left"), [(OLD.date(), EVENTS), (OLD.date() + timedelta(days=1), 0)])
def test_only_rows_before_the_first_day_without_archive_are_deleted(keeping, cap, left):
    store(keeping)
    expiry.apply(Servers(keeping, (), Dialect(SHORT)), expiry.Kept(caps={"query_events": cap}))
    for table in SHORT:
        keeping.execute(f"OPTIMIZE TABLE tailrace.{table} FINAL", alter_sync=2)

    assert (old(keeping), old(keeping, "1", "query_load_1m", "minute")) == (left, 0)


def test_an_archive_keeps_each_day_of_a_hold(keeping, user):
    auditor, first = user("auditor"), date(2026, 10, 1)
    place(user, "instance:db1 user:etl from:2026-10-03 to:2026-10-04")

    held = {date(2026, 10, 3), date(2026, 10, 4)}
    assert holds.held_days(auditor, "audit_events", first, date(2026, 10, 31)) == held
    assert holds.held_days(auditor, "ledger", first, date(2026, 10, 31)) == set()


def test_each_table_with_a_retention_has_a_known_time(admin):
    days = migration_runner.load_retention()
    assert expiry.expiries(days).keys() == days.keys()
