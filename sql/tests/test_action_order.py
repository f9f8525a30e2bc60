"""Evidence about actions does not depend on the order in which their events were inserted and merged."""

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from compliance_rows import access, written

from tailrace.evidence import framework
from tailrace.evidence.period import Period

END = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
PERIOD = Period(END - timedelta(days=1), END)
AT = written(END - timedelta(hours=6))
STATEMENT = 11
PCI = {"data_class": ["pci"], "data_class_read": ["pci"]}
OF_ONE_ACTION = (
    access("a1", AT, source="audit", src_ip="10.0.0.7", verb="SELECT", connection_id=7, query_id=STATEMENT),
    access("a1", AT, source="audit", host="app", tables=["shop.cards"]),
    access("a1", AT, source="slowlog", verb="SELECT", program="batch", rows_sent=3, query_id=STATEMENT),
)
"""A statement, a table of it and its entry in the slow log: no event has all values."""


@pytest.mark.parametrize(
    ("result", "more"), [("cardholder_access", PCI), ("unknown_access", {"basis": ["unknown"]})]
)
def test_an_action_is_the_same_row_in_whatever_order_its_events_arrive(admin, result, more):
    asked = framework.load("pci").results[result]
    for number, order in enumerate(permutations(OF_ONE_ACTION)):
        for event in order:
            admin.insert("tailrace.data_access", [{**event, **more, "instance": f"db{number}"}])
    found = admin.rows(asked.statement(), {**PERIOD.parameters(), "class": "pci"})

    assert len({row.pop("instance") for row in found}) == len(found) == 6
    row = found[0]
    assert found == [row] * 6
    known = {"client_host": "app", "client_ip": "10.0.0.7", "client_program": "batch", "action": "SELECT"}
    known |= {"connection": 7, "statement_id": f"{STATEMENT:016x}"}
    assert known.items() <= row.items()


@pytest.mark.parametrize(
    ("records", "named"),
    [
        ((["shop.cards"], ["cards"]), "shop.cards"),
        ((["cards"], ["orders"]), "cards, orders"),
        ((["cards", "shop.cards"], ["shop.cards"]), "cards, shop.cards"),
    ],
    ids=["with and without its database", "two tables", "two tables of one record"],
)
def test_a_table_that_another_log_names_without_its_database_is_named_once(admin, records, named):
    logs = zip(("audit", "slowlog"), records, strict=True)
    for source, tables in logs:
        admin.insert("tailrace.data_access", [access("a1", AT, source=source, tables=tables, **PCI)])
    statement = framework.load("pci").results["cardholder_access"].statement()
    (row,) = admin.rows(statement, {**PERIOD.parameters(), "class": "pci"})
    assert row["affected_tables"] == named
    assert not [name for name, value in row.items() if isinstance(value, list)], "scripts read these columns"
