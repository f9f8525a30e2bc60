"""Tests the queries about waits for metadata locks on polls with known results."""

from datetime import timedelta

import pytest
from query_page_rows import END, START, asking, execution, insert_statements, sql
from test_message_queries import asking as rendered_asking

RANGE = (START.isoformat(), END.isoformat())
BEGIN = START + timedelta(minutes=30)
FIRST_ROWS = {"ask": insert_statements}


def wait(seconds: int, **columns) -> dict:
    """A poll that finds a session that has waited for so many seconds since BEGIN."""
    its = {"cluster": "shop", "instance": "db1", "at": sql(BEGIN + timedelta(seconds=seconds))}
    its |= {"object_type": "TABLE", "database": "Shop", "object_name": "orders", "waiting_seconds": seconds}
    its |= {"waiting_lock": "EXCLUSIVE", "waiting_connection": 7, "waiting_user": "ann"}
    its |= {"waiting_command": "Query", "waiting_host": "10.0.0.1"}
    its |= {"holding_lock": "SHARED_READ", "holding_connection": 8, "holding_user": "app"}
    return {**its, "holding_command": "Sleep", "holding_seconds": seconds + 90, **columns}


LATER = {"at": sql(BEGIN + timedelta(minutes=20)), "waiting_seconds": 5}
"""Another command of the same session."""
REPLICA = {"holding_connection": 0, "holding_user": "", "holding_command": "", "holding_lock": "INTENTION"}
SCHEMA = {"object_type": "SCHEMA", "object_name": "", "instance": "db2", "database": "crm"}


def snapshot(instance: str, minutes: int, status: str = "ok", kind: str = "metadata_locks", **more) -> dict:
    its = {"cluster": "shop", "instance": instance, "kind": kind, "status": status, "part": 1, "parts": 1}
    return {**its, "at": sql(START + timedelta(minutes=minutes)), **more}


@pytest.fixture
def ask(admin, user):
    """Asks with the rows of insert_statements (FIRST_ROWS)."""
    return asking(user)


@pytest.fixture
def polled(user):
    """Inserts waits like the loader."""
    return lambda *rows: user("facts").insert("tailrace.metadata_lock_waits", list(rows))


@pytest.fixture
def shown(admin, user, rendered, polled):
    """Returns the rows of a query of the dashboard for polls with four waits."""
    polled(wait(3), wait(63), wait(62, at=wait(63)["at"], **REPLICA), wait(5, **LATER))
    polled(wait(9, **SCHEMA), wait(63))  # the loader may insert a row again
    return rendered_asking(user, rendered)


def test_polls_of_one_command_are_one_wait(shown):
    rows = shown("metadata_lock_waits", RANGE)
    found = {
        (row["locked_object"], row["waits_since"], row["waited_seconds"], row["polls"]): row for row in rows
    }
    later = sql(BEGIN + timedelta(minutes=20) - timedelta(seconds=5))
    assert set(found) == {
        ("table Shop.orders", sql(BEGIN), 63, 2),
        ("table Shop.orders", sql(BEGIN + timedelta(seconds=1)), 62, 1),
        ("table Shop.orders", later, 5, 1),
        ("schema crm", sql(BEGIN), 9, 1),
    }
    first = found["table Shop.orders", sql(BEGIN), 63, 2]
    assert (first["waiter"], first["holder"]) == ("ann from 10.0.0.1, connection 7", "app, connection 8")
    assert first["holder_state"] == "idle for 2 min 33 s" and first["is_idle"]
    assert "Shop.orders" in first["statements_link"] and "connection_id" in first["link"]
    replica = next(row for row in rows if row["holding_lock"] == "INTENTION")
    assert (replica["holder"], replica["holder_state"], replica["link"]) == (
        "thread of the server",
        "unknown",
        "",
    )


def test_a_page_has_the_waits_of_its_tables_on_its_servers(ask, stored, polled):
    other = {"waiting_connection": 9, "instance": "db7"}
    polled(wait(3), wait(63), wait(3, **other), wait(9, **SCHEMA), wait(5, **LATER))
    for names in (["shop.orders"], ["orders"]):
        stored("query_events", execution(START, 1, database="shop", error_code=1))
        later, first = ask("lock_waits", names=names)
        assert (first["since"], first["waited_seconds"], first["name"]) == (sql(BEGIN), 63, "Shop.orders")
        assert (first["waiting_connection"], first["holding_command"]) == (7, "Sleep")
        assert later["waited_seconds"] == 5
    assert ask("lock_waits", names=["shop.order"]) == []


def test_servers_that_are_not_read_say_what_to_change(admin, user, rendered, stored):
    off = "the instrument is off: UPDATE performance_schema.setup_instruments"
    rows = [
        *(snapshot("read", minute) for minute in range(3)),
        snapshot("part", 1, "timeout", error="too slow"),
        snapshot("part", 2),
        snapshot("without", 1, kind="settings"),
        snapshot("off", 1, "absent", error=off),
        snapshot("denied", 1, "denied", error="SELECT command denied"),
        snapshot("before", -1),
    ]
    user("facts").insert("tailrace.server_snapshots", rows)
    found = {row["instance"]: row for row in rendered_asking(user, rendered)("metadata_lock_polls", RANGE)}
    assert {name: (row["state"], row["polls_read"], row["polls_failed"]) for name, row in found.items()} == {
        "read": ("read", 3, 0),
        "part": ("read in part", 1, 1),
        "without": ("not read", 0, 0),
        "off": ("not read: absent", 0, 1),
        "denied": ("not read: denied", 0, 1),
    }
    assert found["off"]["to_change"] == off and found["without"]["last_polled"] is None
    assert "metadata_locks: true" in found["without"]["to_change"]
    assert found["denied"]["to_change"].startswith("GRANT SELECT ON performance_schema.metadata_locks")
