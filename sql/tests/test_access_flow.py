"""Tests which flows the drawings of "Access flow" name, and which they combine."""

import uuid
from collections.abc import Callable, Iterable

import pytest
from security_rows import RANGE, audit, identity_of

BY_TABLE = "user → table"
OTHERS = "other users (7)"


@pytest.fixture
def drawn(user, rendered) -> Callable[..., dict[tuple[str, str], int]]:
    """Returns a function that returns the actions by source and target, as Superset asks for them."""

    def ask(step: str = BY_TABLE, **filters: list[str]) -> dict[tuple[str, str], int]:
        query = rendered("access_flow", *RANGE, drawn=("source", "target"), step=[step], **filters)
        found = user("reader_security").rows(
            f"SELECT source, target, uniqExact(action) AS actions FROM ({query}\n) GROUP BY source, target"
        )
        return {(row["source"], row["target"]): int(row["actions"]) for row in found}

    return ask


def accesses(name: str, count: int, table: str = "shop.cards", **columns) -> Iterable[dict]:
    """Yields accesses of one account, each an action of its own."""
    known = {"tables": [table], "data_class_read": ["pci"], "basis": ["log"]}
    for number in range(count):
        action = f"{name} {table} {number}"
        record = identity_of(audit(30, number / 10, user=name))
        yield {**record, "event_id": str(uuid.uuid4()), "action_id": action, **known, **columns}


def test_few_flows_have_their_names(stored, drawn):
    stored("data_access", *accesses("anna", 3), *accesses("ben", 2, "shop.customers"))

    assert drawn() == {("user anna", "table shop.cards"): 3, ("user ben", "table shop.customers"): 2}


def test_flows_beyond_the_largest_eleven_are_combined(stored, drawn):
    stored("data_access", *(row for place in range(18) for row in accesses(f"user{place:02}", 30 - place)))
    found = drawn()

    assert len(found) == 12
    assert found["user user00", "table shop.cards"] == 30
    assert found[OTHERS, "table shop.cards"] == sum(30 - place for place in range(11, 18))


def test_a_thin_flow_has_its_name(stored, drawn):
    """A few accesses of a person beside thousands of an application are those that matter."""
    stored("data_access", *accesses("app", 200), *accesses("anna", 1, "shop.customers"))

    assert drawn() == {("user app", "table shop.cards"): 200, ("user anna", "table shop.customers"): 1}


def both_names(name: str, *records: list[str], **columns) -> Iterable[dict]:
    """Yields the records of one action, which name these tables."""
    for number, tables in enumerate(records):
        (record,) = accesses(name, 1, tables=tables, **columns)
        yield {**record, "source": ("audit", "slowlog")[number], "action_id": name}


def test_a_table_that_some_records_name_without_its_database_is_one_table(stored, drawn):
    stored(
        "data_access",
        *both_names("app", ["shop.cards"], ["cards"]),
        *accesses("anna", 2, "cards"),
        *accesses("ben", 1, "`odd.name`"),
        *accesses("ben", 1, "shop.`odd.name`"),
    )

    assert drawn() == {
        ("user app", "table shop.cards"): 1,
        ("user anna", "table shop.cards"): 2,
        ("user ben", "table shop.`odd.name`"): 2,
    }


@pytest.mark.parametrize(
    "records",
    [
        [("app", ["shop.cards"], {}), ("ben", ["billing.cards"], {}), ("anna", ["cards"], {})],
        [("app", ["shop.cards"], {}), ("anna", ["cards", "shop.cards"], {})],
        [("app", ["shop.cards"], {}), ("anna", ["cards"], {"instance": "db2"})],
    ],
    ids=["two databases", "one record has both names", "another server"],
)
def test_a_table_without_a_database_keeps_its_name_if_its_database_is_uncertain(stored, drawn, records):
    rows = [row for user, tables, other in records for row in accesses(user, 1, tables=tables, **other)]
    stored("data_access", *rows)

    assert drawn()["user anna", "table cards"] == 1


def test_flows_are_ranked_among_those_that_pass_the_filters(stored, drawn):
    stored("data_access", *accesses("app", 200), *accesses("anna", 3, instance="db2"))

    assert drawn(instance=["db2"]) == {("user anna", "table shop.cards"): 3}


def test_names_from_logs_cannot_take_the_place_of_others(stored, drawn):
    hostile = ["other users (7)", "<b>x</b>", "o'brien \\", "журнал" * 30, "a" * 200]
    stored("data_access", *(row for name in hostile for row in accesses(name, 5)))
    sources = {source for source, _ in drawn()}

    assert {"user other users (7)", "user <b>x</b>", "user o'brien \\"} < sources
    assert len(sources) == len(hostile) and max(map(len, sources)) <= 40
    shortened = sorted(source for source in sources if "… " in source)
    assert [source.partition("… ")[0] for source in shortened] == [
        "user " + "a" * 29,
        "user " + ("журнал" * 5)[:29],
    ]


def test_a_client_named_like_a_user_is_no_loop(stored, drawn):
    stored("data_access", *accesses("anna", 5, host="user anna"))

    assert drawn("client → user") == {("client user anna", "user anna"): 5}
