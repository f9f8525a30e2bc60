"""Tests advice as DDL: from the conditions of a plan, the text of the statement, and dropped indexes."""

import random
from datetime import UTC, datetime

import pytest

from tailrace_pages.statements import advice, plans, schema_changes
from tailrace_pages.statements.conditions import conditions

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
MODEL = (
    '{"plan":{"inputs":[{"schema":"shop","table":"cust`omers","alias":"c"},{"table":"orders","alias":"o"}]}}'
)
MISSING = (
    "missing index · c: no index can be used: consider one on (city, name) · reads 51,000 rows for a = ?"
)
UNKNOWN = "missing index · orders: all rows are read and checked, and no index can be used: consider one · y"
SORT = "filesort · many rows are sorted: an index in this order would give them sorted · up to 9 rows"
GROUP = "temporary table · a temporary table holds many rows · up to 9 rows"
TEXT = "select id, created_at from orders where customer_id = ? order by created_at desc limit ?"
SCAN = '{"plan": {"inputs": [{"table": "orders", "alias": "orders", "access_type": "ALL"}]}}'
LOOKUP = SCAN.replace('"ALL"', '"ref", "index": "by_customer", "ref": ["const"]')


def plan(plan_hash: str = "B", **columns) -> dict:
    its = {"server": "db1", "model": "{}", "default_database": "shop", "advice": [], "outline": "query block"}
    return {**its, "plan_hash": plan_hash, **columns}


def ddl(text: str, hour: int = 11, **columns) -> dict:
    its = {"server": "db1", "user": "ben", "database": "shop", "verb": "ALTER", "tables": ["orders"]}
    return {**its, "at": NOON.replace(hour=hour), "text": text, **columns}


@pytest.mark.parametrize(
    ("line", "created"),
    [
        (MISSING, "CREATE INDEX `cust``omers_city_name` ON `shop`.`cust``omers` (`city`, `name`);"),
        (
            "unused leading key part · o: index x holds a but does not start with it: one · y",
            "CREATE INDEX `orders_a` ON `default`.`orders` (`a`);",
        ),
        ("non-sargable · o: lower(a) is compared · y", ""),
    ],
)
def test_conditions_of_a_plan_are_ddl_on_the_table_behind_the_alias(line, created):
    found = advice.advice_of(line, plan(model=MODEL, default_database="default"), conditions(TEXT))
    assert (found.ddl, found.unknown) == (created, "")


def test_without_a_readable_model_the_ddl_names_the_alias():
    assert "ON `c` (" in advice.advice_of(MISSING, plan(default_database=""), conditions(TEXT)).ddl
    rows = [plan(advice=[MISSING]), plan("A", advice=["x · y"]), plan(server="db2", advice=[MISSING])]
    (only,) = plans.advice(rows, TEXT, [])
    assert only["servers"] == ["db1", "db2"]


def test_advice_with_the_same_ddl_says_so():
    found = plans.advice([plan(advice=[SORT, UNKNOWN, GROUP])], TEXT, [])
    assert [each["is_same"] for each in found] == [False, True, False]


@pytest.mark.parametrize(
    ("line", "text", "columns"),
    [
        (UNKNOWN, TEXT, "(`customer_id`, `created_at`)"),
        (SORT, TEXT, "(`customer_id`, `created_at`)"),
        (UNKNOWN, "select a from orders where b > ? and c in(?+) order by d", "(`c`, `b`)"),
        (UNKNOWN, "update orders set a = ? where (b = ? and c between ? and ?)", "(`b`, `c`)"),
        (UNKNOWN, "select ? from x join orders on orders.x_id = x.id where orders.a = ?", "(`a`, `x_id`)"),
        (GROUP, "select a, count(*) from orders where b > ? group by a", "(`a`, `b`)"),
    ],
)
def test_the_text_of_the_statement_names_the_columns_that_the_plan_does_not(line, text, columns):
    shown = plan(outline="query block\n  join\n    x: ALL, 7 rows\n    orders: ALL, 9 rows")
    found = advice.advice_of(line, shown, conditions(text))
    assert found.ddl.endswith(f" ON `shop`.`orders` {columns};")
    assert found.basis.startswith("The text of the statement: it compares ")


@pytest.mark.parametrize(
    ("line", "text", "reason"),
    [
        (UNKNOWN, "select a from orders where b = ? or c = ?", "compares no column of orders with a value"),
        (UNKNOWN, "select a from orders where lower(b) = ? and c <> ?", "compares no column of orders"),
        (UNKNOWN, "select a from orders o, x where b = ?", "Unknown: which table has b."),
        (
            UNKNOWN,
            "select a from orders where b = ? union select c from orders",
            "not read from a text with UNION",
        ),
        (UNKNOWN, f"select a from orders where {'(' * 1500}b = ?{')' * 1500}", "deeply nested parentheses"),
        (SORT, "select a from metrics.? order by a", "does not contain the name of the table"),
        (SORT, "select a from (select a from orders) d order by a", "does not contain the name of the table"),
        (SORT, "select a from metrics.? join orders on b = ? order by a", "if it is on the first table"),
        (SORT, "select a from orders o join x on x.id = o.id order by a", "if it is on the first table"),
        (SORT, "select a from orders where b > ? order by a", "compares b with a range and sorts by a"),
        (SORT, "select a from orders order by a, b desc", "in both directions"),
        (GROUP, "select date(a) as day, count(*) from orders group by day", "groups by an expression"),
    ],
)
def test_advice_without_ddl_states_what_is_unknown(line, text, reason):
    found = advice.advice_of(line, plan(), conditions(text))
    assert (found.ddl, found.basis) == ("", "")
    assert reason in found.unknown


@pytest.mark.parametrize(
    ("source", "tables"),
    [
        ("metrics.?", {"?": ""}),
        ("metrics.? as m", {"m": ""}),
        ("? m, shop.orders", {"m": "", "orders": "shop.orders"}),
        ("`1d`", {"1d": "1d"}),
    ],
)
def test_a_table_whose_name_became_a_placeholder_has_no_name(source, tables):
    found = conditions(f"select * from {source} where a = ?")
    assert found.tables == tables
    assert found.of(found.equal, "1d") == (["a"] if len(tables) == 1 else [])


def test_any_text_is_read_or_is_said_to_be_unread():
    words = [*"().,?", "`a`", "b", "*", "=", "<", ";", "as", "on", "and", "or", "in", "is", "null", "between"]
    words += [
        "select",
        "from",
        "where",
        "join",
        "group by",
        "order by",
        "desc",
        "union",
        "update",
        "set",
        "?+",
    ]
    numbers = random.Random(39)
    for _ in range(1500):
        text = "select a from " + " ".join(numbers.choices(words, k=12))
        plans.advice([plan(advice=[SORT, UNKNOWN, GROUP])], text, [])


def dropped(*changes: dict, current: str = SCAN, before: str = LOOKUP, text: str = TEXT) -> list:
    rows = [plan("B" * 16, model=current), plan("A" * 16, model=before)]
    return [each["advice"] for each in plans.advice(rows, text, changes)]


def test_a_dropped_index_that_the_plan_before_used_is_restored():
    (found,) = dropped(ddl("alter table orders drop index by_customer"))
    assert found.text == "index by_customer of orders was dropped at 2026-03-04 11:00:00 UTC by ben on db1"
    assert found.evidence == "alter table orders drop index by_customer · plan AAAAAAAA used it"
    assert found.ddl == "CREATE INDEX `by_customer` ON `shop`.`orders` (`customer_id`);"
    assert "the text of the statement compares customer_id" in found.basis
    assert found.unknown.startswith("Unknown: further columns of by_customer.")


def test_the_ddl_that_created_a_dropped_index_is_its_definition():
    made = ddl("create index By_Customer on `orders` (`customer_id`, status desc)", 9, verb="CREATE")
    (found,) = dropped(ddl("drop index by_customer on orders", verb="DROP"), made)
    assert found.ddl == "CREATE INDEX `by_customer` ON `shop`.`orders` (`customer_id`, `status`);"
    assert (found.basis, found.unknown) == ("The DDL in the slow logs that created the index.", "")
    prefix = ddl("create index by_customer on orders (name(?))", 9, verb="CREATE")
    assert "further columns" in dropped(ddl("drop index by_customer on orders"), prefix)[0].unknown


def test_a_dropped_index_is_no_advice_if_it_was_created_again_or_has_no_part_in_the_plans():
    drop = ddl("alter table orders drop index by_customer")
    assert dropped(ddl("alter table orders add index by_customer (customer_id)", 12), drop) == []
    assert dropped({**drop, "tables": ["old.orders"]}) == []
    assert dropped(drop, current=LOOKUP) == []
    assert dropped(drop, current=SCAN.replace('"ALL"', '"range"'), before=SCAN) == []
    (unused,) = dropped(drop, before=SCAN)
    assert unused.ddl == "" and "Unknown: whether this statement used it." in unused.unknown


@pytest.mark.parametrize(
    ("text", "verb", "label"),
    [
        ("alter table orders drop index `a b`, drop key c", "ALTER", "index a b dropped and 1 more"),
        ("alter table orders add unique index u (a), drop primary key", "ALTER", "index u created"),
        ("alter table orders add constraint f foreign key (a) references t (b)", "ALTER", "ALTER orders"),
        ("create table orders (id int, key by_a (a))", "CREATE", "CREATE orders"),
        ("truncate table orders", "TRUNCATE", "TRUNCATE orders"),
    ],
)
def test_a_change_of_the_schema_has_a_short_label(text, verb, label):
    assert schema_changes.label(ddl(text, verb=verb)) == label
