"""Tests that the pages of entities read the same rows with the shorter queries that they use if possible."""

from datetime import timedelta

import pytest
from compliance_rows import posting
from entity_rows import Store
from security_rows import NOW, audit, identity_of, login

from tailrace_pages.entities import overview, reading
from tailrace_pages.entities.kinds import Entity
from tailrace_pages.entities.reading import Reading
from tailrace_pages.time_range import TimeRange

SPAN = TimeRange(NOW - timedelta(days=2), NOW - timedelta(days=1))
MIDDLE = 36 * 60
"""Minutes before NOW."""


@pytest.fixture
def store(user) -> Store:
    return Store(user("reader_security"))


def of(store: Store, kind: str, name: str, matches: bool, monkeypatch) -> list[list[dict]]:
    """Returns the numbers and the data classes of an entity, with actions matched between logs or not."""
    monkeypatch.setattr(Reading, "_matches", matches)
    its = Reading(store, Entity(kind, name), SPAN)
    return [its.timeline, its.classes]


@pytest.mark.parametrize("second_action", ["a", "b"], ids=["alike", "unlike"])
def test_actions_are_matched_if_two_logs_do_not_name_them_alike(store, stored, monkeypatch, second_action):
    its = {"query_id": 5, "data_class": ["pci"], "data_class_read": ["pci"], "tables": ["shop.cards"]}
    rows = audit(MIDDLE, 0, user="ann"), audit(MIDDLE, 1.5, user="ann")
    stored(
        "data_access",
        {**identity_of(rows[0]), **its, "action_id": "a", "source": "audit"},
        {**identity_of(rows[1]), **its, "action_id": second_action, "source": "slowlog"},
    )
    for kind, name in (("class", "pci"), ("user", "ann")):
        needed = Reading(store, Entity(kind, name), SPAN)._matches
        assert needed == (second_action == "b")
        with monkeypatch.context() as patched:
            matched, plain = (of(store, kind, name, each, patched) for each in (True, False))
        assert [row["reads"] for row in matched[1]] == [1]
        assert (plain == matched) == (not needed)


@pytest.mark.parametrize(("kind", "name"), [("user", "bob"), ("table", "shop.orders")])
def test_actions_of_entities_without_a_session_in_doubt_are_not_matched(
    store, stored, monkeypatch, kind, name
):
    its = {"query_id": 5, "data_class": ["pci"], "data_class_read": ["pci"], "tables": ["shop.cards"]}
    doubted = audit(MIDDLE, 0, user="ann"), audit(MIDDLE, 1.5, user="ann")
    other = {**identity_of(audit(MIDDLE, 3, user="bob")), "connection_id": 4711}
    stored(
        "data_access",
        {**identity_of(doubted[0]), **its, "action_id": "a", "source": "audit"},
        {**identity_of(doubted[1]), **its, "action_id": "b", "source": "slowlog"},
        {**other, **its, "tables": ["shop.orders"], "action_id": "c", "source": "audit"},
    )
    assert Reading(store, Entity("user", "ann"), SPAN)._matches
    assert not Reading(store, Entity(kind, name), SPAN)._matches
    with monkeypatch.context() as patched:
        matched, plain = (of(store, kind, name, each, patched) for each in (True, False))
    assert [row["reads"] for row in matched[1]] == [1]
    assert plain == matched


@pytest.mark.parametrize("days", [1, 2, 3])
def test_coverage_is_that_of_every_minute_of_the_range(store, stored, days):
    span = TimeRange(SPAN.until - timedelta(days=days), SPAN.until)
    stored("audit_events", login(MIDDLE, user="ann"))
    begin = (SPAN.until - timedelta(hours=9)).replace(minute=0)
    censuses = [posting(begin + timedelta(minutes=each), 100) for each in range(181)]
    stored("ledger", *censuses, posting(begin, 0, kind="FRONTIER", to_offset=100))
    given = {"clusters": [], "servers": [], "sources": reading.SOURCES, "width": overview.width_of(span)}
    whole = store.rows("page_entity_coverage", **given, **span.parameters())
    assert Reading(store, Entity("user", "ann"), span).read.rows == whole
    (audited,) = (row for row in whole if row["source"] == "audit")
    assert len(audited["slots"]) == 3
