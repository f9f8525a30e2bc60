"""Legal holds over the evidence service, as the dashboards place and release them, on a real ClickHouse."""

import shlex
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace.evidence.service.client import EvidenceService, ServiceError
from tailrace.evidence.service.exports import Exports
from tailrace.evidence.service.server import Server, Service
from tailrace.migrations import expiry, hold_state
from tailrace.migrations import runner as migration_runner
from tailrace.migrations.lock import lock
from tailrace.retention import holds, selectors
from tailrace.retention.selection import selection

DAYS = migration_runner.load_retention()
TIMES = expiry.times(DAYS)
FIRST = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
HOSTILE = "<script>'\\"
WHO = {"audience": "compliance", "reason": "a letter"}
RECORD = """
SELECT action, case_name, selector, actor, reason, account FROM tailrace.legal_hold_actions ORDER BY at
"""


@pytest.fixture
def service(admin, user, tmp_path) -> Iterator[EvidenceService]:
    """The service with the account that it has in an installation. At the end there is no hold."""
    auditor, key = user("auditor"), Ed25519PrivateKey.generate()
    exports = Exports(tmp_path / "exports", auditor, key, lambda line: None)
    its = Service(auditor, key, exports, tmp_path / "access.yaml", tmp_path)
    with Server(tmp_path / "evidence.sock", its) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        yield EvidenceService(tmp_path / "evidence.sock")
        server.shutdown()
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")


def release(service: EvidenceService, hold: str, actor: str, step: str) -> str:
    return service.release_hold({**WHO, "hold": hold, "actor": actor, "step": step})


def test_two_people_release_a_hold_that_a_person_placed(service, admin, user):
    hold = service.place_hold({**WHO, "actor": "ines", "case": HOSTILE, "selector": "client:10.0.0.7"})
    with pytest.raises(ServiceError, match="nobody has requested"):
        release(service, hold, "omar", holds.CONFIRM)
    assert release(service, hold, "ines", holds.REQUEST) == "release requested"
    for step in (holds.REQUEST, holds.CONFIRM):
        with pytest.raises(ServiceError, match="another person must confirm"):
            release(service, hold, " Ines", step)
    with pytest.raises(ServiceError, match="ines has requested"):
        release(service, hold, "omar", holds.REQUEST)
    with pytest.raises(ServiceError, match="there is no hold"):
        release(service, uuid.uuid4().hex, "omar", holds.CONFIRM)
    assert release(service, hold, "omar", holds.CONFIRM) == "released"
    with pytest.raises(ServiceError, match="was released"):
        release(service, hold, "eva", holds.CONFIRM)

    assert [tuple(row.values()) for row in admin.rows(RECORD)] == [
        (holds.PLACE, HOSTILE, '{"client": ["10.0.0.7"]}', "ines", "a letter", "auditor"),
        (holds.REQUEST, "", "", "ines", "a letter", "auditor"),
        (holds.CONFIRM, "", "", "omar", "a letter", "auditor"),
    ]
    (found,) = holds.listed(user("reader_compliance"))
    assert (found.state, found.released_by, found.is_in_force) == ("released", "omar", False)


def test_a_repeated_form_places_one_hold(service, admin):
    given = {**WHO, "actor": "ines", "case": "7", "selector": "client:10.0.0.7", "hold": uuid.uuid4().hex}
    assert service.place_hold(given) == service.place_hold(given) == given["hold"]
    with pytest.raises(ServiceError, match="was already placed") as found:
        service.place_hold({**given, "selector": "client:10.0.0.8"})
    assert found.value.status == 400 and len(admin.rows(RECORD)) == 1


SELECTORS = (
    "client:10.0.0.7 table:cards",
    "client:10.0.0.7 table:cards from:2026-10-01 to:2026-10-31",
    "client:10.0.0.7 table:shop.cards table:orders",
    shlex.join([f"client:{HOSTILE} OR 1", "table:%s"]),
)
"""Of few tables. Parts of conditions are equal, and a value looks like an operator."""


def test_a_running_stack_applies_the_holds_of_pages(service, server, admin, user):
    """The second time that it sees a hold: a command applies its own. A reader sees which are applied."""

    def place(text: str) -> None:
        service.place_hold({**WHO, "actor": "ines", "case": "7", "selector": text})

    def unapplied() -> list[list[str] | None]:
        reader = user("reader_compliance")
        return [hold_state.unapplied(reader, selectors.parse(text), DAYS) for text in SELECTORS]

    missing = unapplied()
    assert all("audit_events" in tables for tables in missing)
    place(SELECTORS[1])
    server.part.refresh()
    with lock(admin):
        server.part.refresh()
    assert unapplied() == missing and server.part.problem() == ""
    server.part.refresh()
    assert unapplied() == [missing[0], [], *missing[2:]]

    for text in SELECTORS[2:]:
        place(text)
    for _ in range(2):
        server.part.refresh()
    assert unapplied() == [missing[0], [], [], []]
    admin.execute("ALTER TABLE tailrace.audit_events MODIFY SETTING ttl_only_drop_parts = 0")
    assert unapplied()[1] == ["audit_events"], "its parts may have values of another TTL"

    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")
    for _ in range(2):
        server.part.refresh()
    assert unapplied() == missing and migration_runner.is_retention_applied(admin)


def test_a_failure_is_reported_until_the_next_success_which_starts_deletion_again(service, server, admin):
    part = type(server.part)(server.part.settings, server.part.home)
    service.place_hold({**WHO, "actor": "ines", "case": "7", "selector": SELECTORS[1]})
    for _ in range(2):
        part.refresh()
    admin.execute("SYSTEM STOP TTL MERGES tailrace.audit_events")  # as an application that ends early
    admin.execute("RENAME TABLE tailrace.legal_hold_actions TO tailrace.renamed_actions")
    try:
        part.refresh()
    finally:
        admin.execute("RENAME TABLE tailrace.renamed_actions TO tailrace.legal_hold_actions")
    assert part.problem().startswith("legal holds are not applied: ")
    part.refresh()
    assert part.problem() == ""

    expired = datetime.now(UTC) - timedelta(days=DAYS["audit_events"] + 40)
    row = {"event_id": uuid.uuid4().hex, "event_time": f"{expired:%Y-%m-%d %H:%M:%S}", "user": "expired"}
    admin.insert("tailrace.audit_events", [row], async_insert=0)
    admin.execute("OPTIMIZE TABLE tailrace.audit_events FINAL", alter_sync=2)
    left = admin.rows("SELECT count() AS n FROM tailrace.audit_events WHERE user = 'expired'")
    assert left == [{"n": 0}]


def test_holds_that_wait_for_a_lock_or_a_connection_are_reported(service, server, admin):
    part = type(server.part)(server.part.settings, server.part.home)
    for _ in range(2):
        part.refresh()
    part.late_seconds = 0
    service.place_hold({**WHO, "actor": "ines", "case": "7", "selector": SELECTORS[1]})
    with lock(admin):
        for _ in range(2):
            part.refresh()
    assert "wait to be applied: another migration is running" in part.problem()
    part.settings = replace(part.settings, port_clickhouse=9)
    part.refresh()
    assert "wait to be applied: " in part.problem() and "refused" in part.problem()
    part.settings = server.part.settings
    part.refresh()
    assert part.problem() == ""


def test_a_selection_is_counted_by_table(admin, user):
    for number in range(3):
        at = FIRST + timedelta(hours=number)
        row = {
            "event_id": f"{number:032x}",
            "event_time": f"{at:%Y-%m-%d %H:%M:%S}",
            "user": (HOSTILE, HOSTILE, "etl")[number],
            "ip": "10.0.0.7",
        }
        admin.insert("tailrace.audit_events", [row], async_insert=0)
    selector = selectors.Selector({"user": (HOSTILE,)})

    found = selection(user("reader_compliance"), selector, TIMES)

    first = found.selected[0]
    assert (first.table, first.rows, first.oldest) == ("audit_events", 2, FIRST)
    assert first.newest == FIRST + timedelta(hours=1)
    assert "ledger" in found.others and "query_samples" in found.unknown
    tables = [*(each.table for each in found.selected), *found.others, *found.unknown]
    assert sorted(tables) == sorted(TIMES)
    later = f"user:etl from:{FIRST + timedelta(hours=3):%Y-%m-%dT%H:%M:%S}"
    none = selection(user("reader_compliance"), selectors.parse(later), TIMES)
    assert none.rows == 0 and {each.oldest for each in none.selected} == {None}


@pytest.mark.parametrize("reader", ["reader_compliance", "reader_security"])
@pytest.mark.parametrize("text", ["instance:a", "cluster:a", "user:a", "client:a", "table:a"])
def test_the_page_names_the_tables_that_a_hold_concerns(user, admin, reader, text):
    """The hold applies by all columns of a table, of which a reader may lack some."""
    selector, columns = selectors.parse(text), holds.stored_columns(admin)
    concerned = {table for table in TIMES if selector.condition(table, columns[table], TIMES[table])}
    found = selection(user(reader), selector, TIMES)
    shown = {each.table for each in found.selected}
    assert shown <= concerned and concerned <= shown | {*found.unknown}
