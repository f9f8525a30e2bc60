"""Events of CloudWatch Logs that become visible hours after their time."""

import json
from collections import Counter

import pytest
from test_cloudwatch import NOW, Puller, puller_of, put

from e2e.pulling.fake_cloudwatch import FakeCloudWatch
from tailrace_pull import look_back
from tailrace_pull.late_events import AGES_MILLIS, Hour, Past

HOUR = 3600


@pytest.fixture
def fake() -> FakeCloudWatch:
    return FakeCloudWatch(1, page_events=7)


@pytest.fixture
def few_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids are forgotten when their events are older than the look-back window."""
    monkeypatch.setattr(look_back, "OLD_IDS", 0)


def visit_each_hour(puller: Puller, first: int, last: int) -> list[str]:
    """Visits some times in each hour after NOW; returns the notes."""
    times = [NOW + hour * HOUR + minute * 60 for hour in range(first, last + 1) for minute in (0, 6, 12, 18)]
    return [note for at in times for note in puller.visit(at).notes]


def test_the_only_event_of_a_log_may_be_days_late(fake):
    """Hours of a log without events are listed again, too."""
    puller = puller_of(fake)
    visit_each_hour(puller, 0, 49)
    fake.put("prod", (NOW + 2 * HOUR) * 1000, "late", (NOW + 50 * HOUR) * 1000)
    visit_each_hour(puller, 50, 53)
    assert puller.lines() == [b"late\n"]


def test_events_that_are_hours_late_are_stored_without_their_ids(fake, few_ids):
    """An agent was offline for two hours. One of its events has the time of one that was read."""
    puller = puller_of(fake)
    put(fake, "first", 0)
    for number in range(30):
        put(fake, f"{number}", 4 * HOUR + number)
    puller.visit(NOW)
    puller.visit_until_read(NOW + 4 * HOUR + 60)
    for minutes in (0, 30, 70, 110):
        fake.put("prod", (NOW + minutes * 60) * 1000, f"late {minutes}", (NOW + 4 * HOUR) * 1000)
    assert visit_each_hour(puller, 5, 10) == []
    assert sorted(puller.lines()[31:]) == [b"late 0\n", b"late 110\n", b"late 30\n", b"late 70\n"]
    assert len(puller.lines()) == 35


def test_a_late_event_that_cannot_be_recognized_is_a_gap(fake, few_ids):
    """Two events became visible hours after they had arrived, and the ids of the others are forgotten."""
    puller = puller_of(fake)
    for text in ("a", "b", "c", "d"):
        put(fake, text)
    hidden = [fake._events.pop(1), fake._events.pop(1)]
    puller.visit(NOW)
    put(fake, "last", HOUR)
    puller.visit(NOW + HOUR)
    fake._events += hidden
    (note,) = visit_each_hour(puller, 2, 10)
    assert note == (
        "prod: 2 late events of the hour from 2026-11-18T11:00Z cannot be distinguished from events that "
        "were read: a gap of 4 bytes"
    )
    assert puller.content["prod"] == b"a\nd\nlast\n\0\0\0\0"
    assert puller.state.files[0].size == puller.state.files[0].offset == 13


def test_many_late_events_are_stored_in_several_visits(fake, few_ids):
    puller = puller_of(fake)
    put(fake, "first", 0)
    put(fake, "last", HOUR)
    puller.visit_until_read(NOW + HOUR)
    for number in range(40):
        fake.put("prod", (NOW + number // 4) * 1000, f"{number}", (NOW + HOUR + 60) * 1000)
    sizes = [puller.visit(NOW + 2 * HOUR + 60 * number, max_bytes=20).bytes for number in range(60)]
    assert max(sizes) <= 40
    expected = [b"first\n", b"last\n", *(b"%d\n" % each for each in range(40))]
    assert Counter(puller.lines()) == Counter(expected)


def test_an_hour_is_listed_until_the_service_takes_no_more_events_of_it():
    hour = Hour(0, HOUR * 1000, 60_000)
    past, ages = Past(0, [hour]), []
    while (due := hour.due_at()) is not None:
        assert (past.due(due - 1), past.due(due)) == (None, hour)
        ages.append(due - hour.end)
        hour.listed_at = due
        past.forget()
    assert ages == list(AGES_MILLIS)
    assert past == Past(hour.end, [])


def test_events_that_retention_deleted_are_no_gap(fake, few_ids):
    puller = puller_of(fake)
    put(fake, "deleted", 0)
    put(fake, "last", HOUR)
    puller.visit_until_read(NOW + HOUR)
    fake._events.pop(0)
    fake.put("prod", NOW * 1000, "late", (NOW + 2 * HOUR) * 1000)
    assert visit_each_hour(puller, 3, 10) == []
    assert puller.content["prod"] == b"deleted\nlast\nlate\n"


def test_a_state_of_an_older_version_is_continued(fake, few_ids):
    """It has no hours: those of events that were read before are not listed again."""
    puller = puller_of(fake)
    put(fake, "old", -10)
    puller.visit(NOW)
    puller.state.memory = json.dumps(json.loads(puller.state.memory)[:4])
    put(fake, "new", 10)
    puller.visit(NOW + 20)
    put(fake, "last", HOUR)
    puller.visit(NOW + HOUR)
    fake.put("prod", (NOW + 20) * 1000, "late", (NOW + HOUR) * 1000)
    assert visit_each_hour(puller, 2, 10) == []
    assert puller.lines() == [b"old\n", b"new\n", b"last\n", b"late\n"]
