"""Tests that listed servers which never sent anything are known: on the page Setup, in the coverage, in the
evidence and in metrics. Hosts record their list; the administrator inserts the rows of the past."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.clickhouse.query_files import QUERIES
from tailrace.evidence import framework
from tailrace.evidence.period import Period
from tailrace.health import metrics as health_metrics
from tailrace.ledger import listed_logs
from tailrace.ledger.listed_logs import REPEAT_SECONDS, Entry, ListedLogs
from tailrace.sources import active_sources, sources_file
from tailrace.sources.sources_file import Listed, Server, Source
from tailrace_local.components.repair import Repair
from tailrace_pages import queries

FIRST = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=3)
MINUTES = 60
PERIOD = Period(FIRST, FIRST + timedelta(minutes=MINUTES))
NEVER = "listed audit log never arrived"


def at(days: float = 0, minute: float = 0) -> str:
    return f"{FIRST + timedelta(days=days, minutes=minute):%Y-%m-%d %H:%M:%S.%f}"


def listed(instance: str, time: str, action: str = "listed", **more: str) -> dict:
    row = {"cluster": "shop", "instance": instance, "source": "audit", "log": "/a.log", "host": "box"}
    return {**row, "action": action, "at": time, **more}


def census(instance: str, **more) -> list[dict]:
    """A log that is empty, and that a census saw in each minute of the period."""
    file = {"cluster": "shop", "instance": instance, "source": "audit", "log": "/a.log", "inode": 7, **more}
    return [{**file, "kind": "CENSUS", "at": at(minute=minute + 0.5)} for minute in range(MINUTES)]


@pytest.fixture
def plant(admin):
    return lambda *rows: admin.insert("tailrace.listed_logs", list(rows))


class Clock:
    """A clock that a test sets, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def recorded(admin: ClickHouse) -> list[tuple[str, str, str]]:
    rows = admin.rows("SELECT instance, action, host FROM tailrace.listed_logs ORDER BY at, action, instance")
    return [(row["instance"], row["action"], row["host"]) for row in rows]


def test_a_host_repeats_its_list_and_records_what_it_removed(admin, user):
    repair, clock = user("repair"), Clock()
    db1, db2 = Entry("shop", "db1", "audit", "/a.log"), Entry("shop", "db2", "audit", "/a.log")
    ListedLogs(repair, [db2], "other").record_if_due()
    before = ListedLogs(repair, [db1, db2], "box", clock)
    for clock.now in (0.0, REPEAT_SECONDS - 1.0, float(REPEAT_SECONDS)):
        before.record_if_due()
    for _ in range(2):
        ListedLogs(repair, [db1], "box").record_if_due()
    of_other = [("db2", "listed", "other")]
    twice = [("db1", "listed", "box"), ("db2", "listed", "box")] * 2
    now = [("db1", "listed", "box"), ("db2", "removed", "box"), ("db1", "listed", "box")]
    assert recorded(admin) == [*of_other, *twice, *now]


def test_a_host_can_neither_forge_the_time_nor_take_a_row_back(admin, user):
    for forged in ({"at": at()}, {"account": "admin"}):
        row = {key: value for key, value in listed("db1", "").items() if key != "at"}
        columns = ", ".join({**row, **forged})
        with pytest.raises(ClickHouseError):
            user("repair").insert(f"tailrace.listed_logs ({columns})", [{**row, **forged}])
    with pytest.raises(ClickHouseError):
        user("repair").execute("ALTER TABLE tailrace.listed_logs DELETE WHERE true")


def test_the_list_contains_files_and_servers(tmp_path):
    logs = (Source("db1", "audit", Path("/a.log"), "shop"),)
    entries = listed_logs.of_list(Listed(logs, (Server("db2", "server", "mysql://u@h/", "shop"),)))
    listed_logs.write(tmp_path / "listed.json", entries)
    expected = [Entry("shop", "db1", "audit", "/a.log"), Entry("shop", "db2", "server", "")]
    assert listed_logs.read(tmp_path / "listed.json") == entries == expected


@contextmanager
def repairing(server, entries: list[dict]) -> Iterator[Repair]:
    """Runs the component with these entries of sources.yaml. No gap is repaired, so it needs no Kafka."""
    server.settings.sources.write_text(json.dumps(entries))
    active_sources.activate(server.home, sources_file.read(server.settings.sources))
    repair = Repair(server.settings, server.home)
    repair.prepare()
    process = subprocess.Popen(
        list(map(str, repair.command())),
        env={**os.environ, **repair.environment()},
        stdout=subprocess.DEVNULL,
    )
    try:
        yield repair
    finally:
        process.terminate()
        assert process.wait(LIMIT_SECONDS) == 0


def test_the_running_component_records_the_list_of_its_machine(admin, server):
    log = {"instance": "db1", "cluster": "shop", "source": "audit", "path": "/a.log"}
    table = {"source": "general", "kind": "table", "defaults_file": "/etc/hostname", "cluster": "shop"}
    polled = {"instance": "db3", "cluster": "shop", "source": "server", "dsn": "mysql://tailrace@db-3/"}

    def states() -> dict[tuple[str, str, str], str]:
        rows = admin.rows(
            "SELECT instance, source, log, toString(argMax(action, at)) AS state FROM tailrace.listed_logs "
            "GROUP BY ALL"
        )
        return {(row["instance"], row["source"], row["log"]): row["state"] for row in rows}

    listed = {
        ("db1", "audit", "/a.log"): "listed",
        ("db2", "general", ""): "listed",
        ("db3", "server", ""): "listed",
    }
    with repairing(server, [log, {**table, "instance": "db2"}, polled]) as repair:
        wait_until(lambda: states() == listed, "the list in ClickHouse")
        wait_until(lambda: repair.health().ok, "a healthy component")
    with repairing(server, [log]):
        gone = {("db2", "general", ""): "removed", ("db3", "server", ""): "removed"}
        wait_until(lambda: states() == {**listed, **gone}, "the removal")


@pytest.fixture
def coverage(user):
    def run() -> dict[tuple[str, str], tuple[int, int]]:
        text = queries.text_of("page_evidence_coverage")
        rows = user("reader_compliance").rows(text, PERIOD.parameters())
        counted = {(row["instance"], row["log"]): (row["unknown"], row["watched"]) for row in rows}
        assert len(counted) == len(rows)
        return counted

    return run


def test_minutes_of_a_listed_log_that_never_arrived_are_unknown(plant, stored, coverage, user):
    stored("ledger", *census("seen"))
    plant(listed("seen", at(-1)), listed("never", at(-1)), listed("box-of-never", at(-1), source="server"))
    assert coverage() == {("seen", "/a.log"): (0, MINUTES), ("never", "/a.log"): (MINUTES, 0)}
    intervals = user("auditor").rows(framework.result("coverage").statement(), PERIOD.parameters())
    assert [(row["instance"], row["state"], row["minutes"]) for row in intervals] == [
        ("never", "unknown", MINUTES),
        ("seen", "covered", MINUTES),
    ]


def test_only_logs_that_were_listed_in_the_period_count(plant, coverage):
    plant(
        listed("listed-later", at(1)),
        listed("removed-before", at(-3)),
        listed("removed-before", at(-2), "removed"),
        listed("removed-within", at(-3)),
        listed("removed-within", at(minute=30), "removed"),
        listed("removed-later", at(-3)),
        listed("removed-later", at(1), "removed"),
        listed("listed-again", at(-3)),
        listed("listed-again", at(-2), "removed"),
        listed("listed-again", at(minute=50)),
        listed("not-repeated", at(-8)),
        listed("on-two-hosts", at(-3)),
        listed("on-two-hosts", at(-2), "removed"),
        listed("on-two-hosts", at(-3), host="other"),
    )
    assert {instance for instance, _ in coverage()} == {
        "removed-within",
        "removed-later",
        "listed-again",
        "on-two-hosts",
    }


def test_a_wrong_path_that_was_corrected_leaves_no_unknown_minutes(plant, stored, coverage, user):
    """The entry was removed, and another log of the server and kind arrived: it stood for the same log."""
    stored("ledger", *census("corrected"), *census("second", log="/b.log"))
    plant(
        listed("corrected", at(minute=1), log="/typo.log"),
        listed("corrected", at(minute=6), "removed", log="/typo.log"),
        listed("corrected", at(minute=6)),
        listed("second", at(minute=1)),
        listed("second", at(minute=1), log="/b.log"),
        listed("other-kind", at(minute=1)),
        listed("other-kind", at(minute=6), "removed"),
        listed("other-kind", at(minute=6), source="general", log="/g.log"),
    )
    assert coverage() == {
        ("corrected", "/a.log"): (0, MINUTES),
        ("second", "/a.log"): (MINUTES, 0),
        ("second", "/b.log"): (0, MINUTES),
        ("other-kind", "/a.log"): (MINUTES, 0),
        ("other-kind", "/g.log"): (MINUTES, 0),
    }


def test_a_removal_that_is_recorded_twice_keeps_the_time_of_the_list(admin, plant):
    """Two processes of a host that overlap read the same list before either adds its rows."""
    twice = [listed("gone", at(minute=minute), "removed") for minute in (10, 11)]
    plant(listed("gone", at(-1)), *twice, listed("again", at(-2)))
    plant(*(listed("again", at(-1, minute), "removed") for minute in (0, 1)), listed("again", at(minute=5)))
    rows = admin.rows(
        "SELECT instance, toString(listed_since) AS since, toString(removed_at) AS removed "
        "FROM tailrace.listed_logs_of_period(period_from = {from:DateTime('UTC')}, "
        "period_to = {to:DateTime('UTC')}) ORDER BY instance",
        PERIOD.parameters(),
    )
    assert [(row["instance"], row["since"], row["removed"]) for row in rows] == [
        ("again", at(minute=5)[:19], None),
        ("gone", at(-1)[:19], at(minute=11)[:19]),
    ]


def test_a_pattern_and_a_pulled_log_have_arrived_with_one_of_their_files(plant, stored, coverage):
    stored("ledger", *census("pattern", log="/var/log/a-1.log"), *census("pulled", log="rds:db/audit.log"))
    stored("ledger", *census("moved", log="/old.log"))
    plant(
        listed("pattern", at(-1), log="/var/log/a-*.log"),
        listed("pulled", at(-1), log=""),
        listed("moved", at(-1), log="/new.log"),
        listed("no-match", at(-1), log="/var/log/b-*.log"),
    )
    assert coverage() == {
        ("pattern", "/var/log/a-1.log"): (0, MINUTES),
        ("pulled", "rds:db/audit.log"): (0, MINUTES),
        ("moved", "/old.log"): (0, MINUTES),
        ("moved", "/new.log"): (MINUTES, 0),
        ("no-match", "/var/log/b-*.log"): (MINUTES, 0),
    }


def test_the_evidence_names_listed_servers_and_when_they_were_removed(plant, stored, user):
    stored("ledger", *census("seen"), *census("slow", source="slowlog"))
    plant(
        listed("seen", at(-1)),
        listed("never", at(-2)),
        listed("slow", at(-1), source="slowlog"),
        listed("slow-never", at(-1), source="slowlog"),
        listed("gone", at(-1)),
        listed("gone", at(minute=10), "removed"),
    )
    servers = user("auditor").rows(framework.result("servers").statement(), PERIOD.parameters())
    states = {row["instance"]: row["state"] for row in servers}
    assert states.pop("seen") == "audited"
    assert states == {
        "never": NEVER,
        "slow": "no audit log",
        "slow-never": "no audit log",
        "gone": NEVER,
    }
    times = {row["instance"]: (row["listed_since"], row["removed_from_list_at"]) for row in servers}
    assert times["never"] == (at(-2)[:19], None)
    assert times["gone"] == (at(-1)[:19], at(minute=10)[:19])
    assert all(columns in servers[0] for columns in framework.result("servers").columns)


def test_the_audit_status_counts_a_listed_server_as_not_audited(plant, user, rendered):
    plant(listed("never", at(-1)))
    since, until = (f"{time:%Y-%m-%dT%H:%M:%S}" for time in (PERIOD.first, PERIOD.end))
    (row,) = user("reader_compliance").rows(rendered("coverage_servers", since, until))
    assert (row["instance"], row["state"], row["is_unaudited"]) == ("never", NEVER, True)


def test_the_auditors_view_has_a_listed_server(admin, plant, user):
    now = f"{datetime.now(UTC) - timedelta(minutes=10):%Y-%m-%d %H:%M:%S.%f}"
    plant(listed("never", now), listed("slow-never", now, source="slowlog"))
    rows = user("reader_compliance").rows("SELECT instance, state FROM tailrace.audit_coverage_gaps")
    assert {(row["instance"], row["state"]) for row in rows} == {
        ("never", "unknown"),
        ("slow-never", "no audit log"),
    }


@pytest.fixture
def on_setup(user):
    def run(instance: str = "", audience: str = "reader_developer") -> list[dict]:
        text = (QUERIES / "page_setup_listed.sql").read_text()
        return user(audience).rows(text, {"now": at()[:19], "instance": instance})

    return run


def test_setup_lists_what_never_arrived_and_since_when(plant, stored, on_setup, user):
    stored("ledger", *census("seen"), *[{**row, "at": at(-20)} for row in census("retired")[:1]])
    snapshot = {"cluster": "shop", "instance": "polled", "kind": "server", "at": at(-1), "status": "ok"}
    user("facts").insert("tailrace.server_snapshots", [snapshot])
    plant(
        *(listed("never", at(days)) for days in (-3, -2, -1)),
        listed("retired", at(-1)),
        listed("polled", at(-1), source="server", log=""),
        listed("never-polled", at(-1), source="server", log=""),
        listed("again", at(-3)),
        listed("again", at(-2), "removed"),
        listed("again", at(-1)),
        listed("new", at(minute=-4)),
        listed("gone", at(-3)),
        listed("gone", at(-2), "removed"),
        listed("not-repeated", at(-8)),
        *[listed("seen", at(-1))],
    )
    stored("ledger", *[{**row, "at": at(-1)} for row in census("seen")[:1]])
    found = {row["instance"]: (row["listed_since"], row["last_arrived_at"]) for row in on_setup()}
    assert found == {
        "never": (at(-3)[:19], None),
        "retired": (at(-1)[:19], at(-20)[:19]),
        "never-polled": (at(-1)[:19], None),
        "again": (at(-1)[:19], None),
    }
    assert [row["instance"] for row in on_setup("again")] == ["again"]


def test_the_data_limits_say_on_how_many_of_the_listed_servers_an_audit_log_is_read(
    plant, stored, user, rendered, metric
):
    stored("ledger", *census("seen"), *census("seen-2"))
    plant(listed("seen", at(-1)), listed("never", at(-1)))
    times = tuple(f"{time:%Y-%m-%dT%H:%M:%S}" for time in (PERIOD.first, PERIOD.end))
    wanted = metric("data_limits_audit", "linked_limits", time_range=times)
    (row,) = user("reader_compliance").rows(
        f"SELECT {wanted} AS line FROM ({rendered('data_limits', *times)}\n)"
    )
    assert re.search(">(.*)</a>", row["line"])[1] == (
        "audit logs of 2 of 3 servers · coverage of 33.3 % of the minutes unknown "
        "· 1 server with a listed log that never arrived"
    )


def test_the_data_limits_do_not_say_that_a_server_sent_nothing_if_one_of_its_logs_arrives(
    plant, stored, user, rendered, metric
):
    stored("ledger", *census("seen"))
    plant(listed("seen", at(-1)), listed("seen", at(-1), log="/second.log"))
    times = tuple(f"{time:%Y-%m-%dT%H:%M:%S}" for time in (PERIOD.first, PERIOD.end))
    wanted = metric("data_limits_audit", "linked_limits", time_range=times)
    (row,) = user("reader_compliance").rows(
        f"SELECT {wanted} AS line FROM ({rendered('data_limits', *times)}\n)"
    )
    assert re.search(">(.*)</a>", row["line"])[1] == (
        "audit logs of 1 of 1 server · coverage of 50 % of the minutes unknown "
        "· 1 server with a listed log that never arrived"
    )


def test_the_covered_part_of_the_overview_counts_a_listed_log(plant, stored, user, rendered):
    stored("ledger", *census("seen"))
    plant(listed("never", at(-1)))
    times = tuple(f"{time:%Y-%m-%dT%H:%M:%S}" for time in (PERIOD.first, PERIOD.end))
    rows = user("reader_compliance").rows(rendered("coverage_days", *times))
    assert {(row["instance"], row["state"]): row["minutes"] for row in rows} == {
        ("seen", "covered"): MINUTES,
        ("never", "unknown"): MINUTES,
    }


def test_metrics_have_what_other_hosts_list(admin, plant):
    def ago(minutes: float) -> str:
        return f"{datetime.now(UTC) - timedelta(minutes=minutes):%Y-%m-%d %H:%M:%S.%f}"

    plant(listed("never", ago(30)), listed("new", ago(2)), listed("gone", ago(30)))
    plant(listed("gone", ago(20), "removed"))
    (missing,) = (
        metric
        for metric in health_metrics.ledger_metrics(admin)
        if metric.name == "tailrace_census_missing_seconds"
    )
    (sample,) = missing.samples
    assert sample.labels == {"instance": "never", "source": "audit", "log": "/a.log"}
    assert 1790 < sample.value < 1900
