"""What is kept, for how long, why, and what expires next."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tailrace.migrations import expiry
from tailrace.migrations import runner as migration_runner
from tailrace.retention import demands, holds, overview, selectors
from tailrace.retention.overview import Policy

DAYS = migration_runner.load_retention()
POLICY = Policy(DAYS, expiry.times(DAYS))
RECENT = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)


def lines(clickhouse, *frameworks: str, policy: Policy = POLICY) -> dict[str, overview.Line]:
    return {line.table: line for line in overview.lines(clickhouse, policy, frameworks)}


def test_each_table_belongs_to_one_class_of_records():
    tables = [table for kind in demands.classes() for table in kind.tables]

    assert sorted(tables) == sorted(DAYS), (
        "tables of sql/retention.yaml: embedded/tailrace/retention/frameworks.yaml names the class of each"
    )
    assert {
        each.framework for kind in demands.classes() for each in kind.demands
    } == demands.frameworks().keys()


def test_a_table_is_marked_if_a_chosen_framework_demands_more(admin, user):
    reader = user("reader_compliance")

    assert [each.clause for each in lines(reader, "hipaa")["audit_events"].unmet] == ["164.316(b)(2)(i)"]
    assert lines(reader, "pci")["audit_events"].unmet == []
    assert [line.table for line in lines(reader, "pci").values() if line.unmet] == []
    short = {**DAYS, "audit_events": 364}
    (found,) = lines(reader, "pci", policy=Policy(short, POLICY.times))["audit_events"].unmet
    assert found.text == "PCI DSS 4.0.1, 10.5.1: 365 days, 90 of them immediately available"
    archived = Policy(short, POLICY.times, ("audit_events",))
    line = lines(reader, "pci", policy=archived)["audit_events"]
    assert (line.unmet, line.archive) == ([], "no day is archived: nothing is deleted")


def test_the_oldest_row_without_a_hold_expires_next(admin, user):
    for number, who in enumerate(("held", "free", "free")):
        at = RECENT + timedelta(hours=number)
        row = {
            "event_id": f"{number:032x}",
            "event_time": f"{at:%Y-%m-%d %H:%M:%S}",
            "instance": "db1",
            "user": who,
        }
        admin.insert("tailrace.audit_events", [row], async_insert=0)
    holds.place(user("auditor"), "case 7", selectors.parse("user:held"), "ines", "a letter")

    line = lines(user("reader_compliance"))["audit_events"]
    assert (line.rows, line.held, line.oldest) == (3, 1, RECENT)
    assert line.expires_next == RECENT + timedelta(hours=1, days=DAYS["audit_events"])

    holds.place(user("auditor"), "case 8", selectors.parse("instance:db1"), "ines", "a letter")
    line = lines(user("reader_compliance"))["audit_events"]
    assert (line.held, line.expires_next) == (3, None)
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")


@pytest.mark.parametrize(("table", "known"), [("query_samples", None), ("reviews", 0)])
def test_what_cannot_be_read_is_unknown_and_not_empty(admin, user, table, known):
    line = lines(user("reader_compliance"))[table]

    assert (line.rows, line.oldest, line.expires_next) == (known, None, None)


def test_without_a_hold_no_row_of_a_table_with_events_is_read(admin, user):
    """The number of rows and the first time of each partition are in the parts of a table."""
    rows = [
        {"event_time": f"{RECENT:%Y-%m-%d %H:%M:%S}", "instance": f"db{number}"} for number in range(5000)
    ]
    admin.insert("tailrace.error_events", rows, async_insert=0)
    reads = _Measured(user("admin"))

    line = lines(reads)["error_events"]
    assert (line.rows, line.held, line.oldest) == (5000, 0, RECENT)
    assert line.expires_next == RECENT + timedelta(days=DAYS["error_events"])
    assert max(reads.rows_read) < 5000


class _Measured:
    """Reads, and remembers the number of rows that each statement read."""

    def __init__(self, clickhouse) -> None:
        self._clickhouse = clickhouse
        self.rows_read: list[int] = []

    def rows(self, statement: str, parameters=None) -> list[dict]:
        answer = json.loads(
            self._clickhouse.execute(
                f"{statement} FORMAT JSON", parameters, output_format_json_quote_64bit_integers=0
            )
        )
        self.rows_read.append(answer["statistics"]["rows_read"])
        return answer["data"]
