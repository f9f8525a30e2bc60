"""Tests that TTLs applied with ON CLUSTER protect held rows, also if a run fails and is repeated.

No test machine has a ClickHouse that runs ON CLUSTER: a simulated one keeps the definition of a table, and
the TTL whose values its parts have.
"""

import re
from datetime import date

import pytest

from tailrace.clickhouse.client import ClickHouseError
from tailrace.migrations import expiry
from tailrace.migrations.expiry import Kept
from tailrace.migrations.migration_files import Dialect
from tailrace.migrations.servers import Servers

TABLE = "query_events"
DAYS = {TABLE: 30}
PLAIN = "toDateTime(event_time) + toIntervalDay(30)"
HELD = Kept(caps={TABLE: date(2026, 11, 1)})
RELEASED = Kept()
TIMEOUT_EXCEEDED = 159


class Cluster:
    """Replicas of one table behind one address, which fail at one statement."""

    url = "http://chi-tailrace-0-0:8123"

    def __init__(self) -> None:
        self.ttl = self.ttl_of_parts = PLAIN
        self.settings = {"index_granularity": "8192", "ttl_only_drop_parts": "1"}
        self.deletes = True
        self.statements: list[str] = []
        self.given: list[dict[str, object]] = []
        self.fails_at = -1
        self.has_effect = False
        """Whether the failed statement was executed, and only its answer was lost."""

    def rows(self, statement: str, parameters: dict | None = None, **_: object) -> list[dict[str, object]]:
        if "create_table_query" in statement:
            stated = ", ".join(f"{name} = {value}" for name, value in self.settings.items())
            text = f"CREATE TABLE tailrace.{TABLE} (…) ORDER BY t TTL {self.ttl} SETTINGS {stated}"
            return [{"name": TABLE, "definition": text}]
        if "formatQuerySingleLine" in statement:
            prefix, _, ttl = parameters["ttl"].partition(" MODIFY TTL ")
            return [{"text": f"{prefix} (MODIFY TTL {ttl})"}]
        assert "clusterAllReplicas('tailrace', system.processes)" in statement
        return [{"longest": 0.0}]

    def execute(self, statement: str, parameters: dict | None = None, **settings: object) -> str:
        assert " ON CLUSTER 'tailrace' " in statement
        fails = len(self.statements) == self.fails_at
        self.statements.append(statement)
        self.given.append(settings)
        if not fails or self.has_effect:
            self._apply(statement, settings)
        if fails:
            raise ClickHouseError(TIMEOUT_EXCEEDED, "the statement is executing on 1 of 3 hosts")
        return ""

    def _apply(self, statement: str, settings: dict[str, object]) -> None:
        if "TTL MERGES" in statement:
            self.deletes = "START" in statement
        elif changed := re.search(r" MODIFY SETTING (.+)$", statement):
            self.settings |= dict(each.split(" = ") for each in changed[1].split(", "))
        elif reset := re.search(r" RESET SETTING (\w+)$", statement):
            self.settings.pop(reset[1], None)
        elif changed := re.search(r" MODIFY TTL (.+)$", statement):
            self.ttl = changed[1]
            if settings.get("materialize_ttl_after_modify", 1):
                self.ttl_of_parts = self.ttl
        else:
            assert "MATERIALIZE TTL" in statement
            assert settings["mutations_sync"] == 2 and not self.deletes
            assert self.settings["materialize_ttl_recalculate_only"] == "1"
            self.ttl_of_parts = self.ttl
        if self.deletes:
            assert self.ttl_of_parts == self.ttl, "parts with the values of another TTL are deleted"

    def run(self, found: Kept) -> list[str]:
        """Applies the TTLs; returns the statements."""
        before = len(self.statements)
        expiry.apply(Servers(self, (), Dialect(DAYS, "tailrace")), found)
        return self.statements[before:]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def recalculates(statements: list[str]) -> bool:
    return any("MATERIALIZE TTL" in each for each in statements)


LATER = Kept(caps={TABLE: date(2026, 10, 1)})
CHANGES = {"placed": (HELD,), "changed": (HELD, LATER), "released": (HELD, RELEASED)}


def cases() -> list[tuple[str, int, bool]]:
    """Each change of the holds, each statement that the last run sends, and whether it has an effect."""
    numbers = {}
    for name, runs in CHANGES.items():
        simulated = Cluster()
        numbers[name] = [len(simulated.run(found)) for found in runs][-1]
    assert min(numbers.values()) >= 5
    return [
        (name, at, effect)
        for name, count in numbers.items()
        for at in range(count)
        for effect in (False, True)
    ]


@pytest.mark.parametrize(("change", "fails_at", "has_effect"), cases())
def test_a_repeated_run_recalculates_the_parts_before_rows_are_deleted(cluster, change, fails_at, has_effect):
    *before, last = CHANGES[change]
    for found in before:
        cluster.run(found)
    cluster.fails_at, cluster.has_effect = len(cluster.statements) + fails_at, has_effect
    with pytest.raises(ClickHouseError):
        cluster.run(last)

    cluster.run(last)

    assert cluster.deletes and cluster.ttl_of_parts == cluster.ttl
    kept = set() if last is RELEASED else {"materialize_ttl_recalculate_only"}
    assert cluster.settings.keys() - {"index_granularity", "ttl_only_drop_parts"} == kept


def test_each_statement_waits_for_all_servers(cluster):
    """By default ClickHouse waits for three minutes, and a recalculation takes longer."""
    cluster.run(HELD)
    cluster.run(RELEASED)

    assert len(cluster.given) == len(cluster.statements) > 10
    for statement, settings in zip(cluster.statements, cluster.given, strict=True):
        assert settings["timeout"] > settings["distributed_ddl_task_timeout"] >= 24 * 3600, statement


def test_a_migration_waits_for_all_servers(cluster):
    """Some fill a table from all events."""
    servers = Servers(cluster, (), Dialect(DAYS, "tailrace"))
    servers.run(f"ALTER TABLE tailrace.{TABLE} ON CLUSTER 'tailrace' MODIFY TTL {PLAIN}")

    (settings,) = cluster.given
    assert settings["timeout"] > settings["distributed_ddl_task_timeout"] >= 24 * 3600


def test_a_run_that_changes_nothing_recalculates_nothing(cluster):
    assert recalculates(cluster.run(HELD))
    assert not recalculates(cluster.run(HELD))
    assert cluster.run(RELEASED)
    assert cluster.run(RELEASED) == []
    assert cluster.settings["ttl_only_drop_parts"] == "1"


def test_parts_of_a_run_that_an_earlier_version_left_are_recalculated(cluster):
    """It stated ttl_only_drop_parts before and after it recalculated, so its run may not have ended."""
    cluster.run(HELD)
    cluster.settings["ttl_only_drop_parts"] = "0"
    cluster.deletes, cluster.ttl_of_parts = False, PLAIN

    assert recalculates(cluster.run(HELD))
    assert cluster.deletes and not recalculates(cluster.run(HELD))
