"""Tests which days signed reviews cover: the complete day, on all servers, by valid reviews."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from compliance_rows import NOW, RANGE, asking, stored
from days import now_before_midnight

from tailrace.evidence import framework, reviews
from tailrace.evidence.parameters import parameters
from tailrace.evidence.period import Period
from tailrace.evidence.reviews import Review, ReviewError

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
HOUR = timedelta(hours=1)
SERVERS = ("db1", "db2")


def day(ago: int) -> datetime:
    return TODAY - timedelta(days=ago)


def whole(ago: int) -> Period:
    return Period(day(ago), day(ago - 1))


@pytest.fixture
def sign(admin, user):
    """Signs as the auditor; two servers are known for days."""
    admin.insert("tailrace.ledger", [posting(name, day(9)) for name in SERVERS])
    return lambda period, *servers, **more: reviews.sign(
        user("auditor"), Review("ines", period, "none", servers=servers, **more)
    )


def posting(instance: str, at: datetime) -> dict:
    its = {"kind": "CENSUS", "cluster": "shop", "instance": instance, "source": "audit", "log": "/a.log"}
    return {**its, "generation": 1, "inode": 7, "size": 1, "at": f"{at:%F %T}.000000"}


@pytest.fixture
def days(user):
    """Returns the days of a period that are not reviewed, with state, minutes and complete servers."""

    def ask(period: Period) -> dict[str, tuple]:
        statement = framework.result("days_without_review").statement()
        rows = user("reader_compliance").rows(statement, parameters(framework.load("pci"), period))
        names = ("state", "minutes_on_all_servers", "complete_servers", "known_servers")
        return {row["day_without_review"]: tuple(row[name] for name in names) for row in rows}

    return ask


def test_a_day_is_reviewed_if_a_review_covers_all_of_it_on_all_servers(sign, days):
    sign(whole(3))
    assert days(Period(day(4), day(2))) == {f"{day(4):%F}": ("not reviewed", 0, 0, 2)}


def test_minutes_of_a_day_make_it_partly_reviewed(sign, days):
    sign(Period(day(3) + 10 * HOUR, day(3) + 10 * HOUR + timedelta(minutes=1)))
    assert days(whole(3)) == {f"{day(3):%F}": ("partly reviewed", 1, 0, 2)}
    sign(Period(day(3), day(3) + 11 * HOUR))
    assert days(whole(3)) == {f"{day(3):%F}": ("partly reviewed", 11 * 60, 0, 2)}, "parts that overlap"
    sign(Period(day(3) + 11 * HOUR, day(1)))
    assert days(whole(3)) == {}, "several reviews together"


def test_no_day_before_the_first_known_server_has_to_be_reviewed(sign, days):
    assert list(days(Period(day(20), day(7)))) == [f"{day(9):%F}", f"{day(8):%F}"]
    assert days(whole(20)) == {f"{day(20):%F}": ("no server known", 0, 0, 0)}, "unknown, not reviewed"


def test_a_server_is_reviewed_until_its_removal(admin, sign, days):
    its = {"cluster": "shop", "instance": "db2", "source": "audit", "log": "/a.log", "host": "box"}
    admin.insert("tailrace.listed_logs", [{**its, "action": "listed", "at": f"{day(9):%F %T}"}])
    sign(whole(3), "db1")
    assert days(whole(3)) == {f"{day(3):%F}": ("partly reviewed", 0, 1, 2)}
    admin.insert("tailrace.listed_logs", [{**its, "action": "removed", "at": f"{day(4) + HOUR:%F %T}"}])
    assert days(whole(3)) == {}, "removed the day before"
    assert days(whole(4)) == {f"{day(4):%F}": ("not reviewed", 0, 0, 2)}, "the day of the removal"
    admin.insert(
        "tailrace.listed_logs", [{**its, "host": "other", "action": "listed", "at": f"{day(5):%F %T}"}]
    )
    assert days(whole(3)).keys() == {f"{day(3):%F}"}, "another host lists it"


def test_one_server_is_not_all_of_them(sign, days):
    sign(whole(3), "db2")
    assert days(whole(3)) == {f"{day(3):%F}": ("partly reviewed", 0, 1, 2)}
    sign(Period(day(3), day(3) + 6 * HOUR), "db1")
    assert days(whole(3)) == {f"{day(3):%F}": ("partly reviewed", 360, 1, 2)}
    sign(Period(day(3) + 6 * HOUR, day(2)))
    assert days(whole(3)) == {}, "each server is covered all day"


def test_a_period_within_a_day_asks_for_the_whole_day(sign, days):
    part = Period(day(3) + 10 * HOUR, day(3) + 11 * HOUR)
    sign(part)
    assert days(part) == {f"{day(3):%F}": ("partly reviewed", 60, 0, 2)}
    assert days(Period(day(3) + HOUR, day(2) + HOUR)).keys() == {f"{day(3):%F}", f"{day(2):%F}"}


def test_a_day_is_not_reviewed_before_its_end(admin, sign, days):
    begin = now_before_midnight().replace(hour=0, minute=0, second=0)
    yesterday, tomorrow = begin - timedelta(days=1), begin + timedelta(days=1)
    today = Period(begin, begin + timedelta(minutes=1))
    assert days(today) == {f"{begin:%F}": ("not reviewed yet", 0, 0, 2)}
    row = {"period_from": f"{yesterday:%F %T}", "period_to": f"{tomorrow:%F %T}", "covers": "all servers"}
    admin.insert("tailrace.reviews", [{**row, **SIGNED, "review_id": str(uuid.uuid4())}])
    ((state, minutes, *_),) = days(Period(yesterday, today.end)).values()
    assert state == "partly reviewed" and minutes < 1440, "nothing after the signature"


def test_a_range_that_ends_in_the_future_lists_no_later_day(sign, user, rendered):
    today = now_before_midnight().replace(hour=0, minute=0, second=0)
    first, end = today - timedelta(days=2), today + timedelta(days=5)
    query = rendered("coverage_unreviewed", first.isoformat(), end.isoformat())
    found = {row["day"] for row in user("reader_compliance").rows(query)}
    assert found == {f"{today - timedelta(days=ago):%F}" for ago in (2, 1, 0)}


SIGNED = {"actor": "ines", "scope": "all servers and logs", "finding": "none"}


def test_a_review_without_servers_is_not_judged(admin, sign, days, user):
    row = {"period_from": f"{day(3):%F %T}", "period_to": f"{day(2):%F %T}"}
    admin.insert("tailrace.reviews", [{**row, **SIGNED, "review_id": str(uuid.uuid4())}])
    assert days(whole(3)) == {f"{day(3):%F}": ("scope not judged", 0, 0, 2)}
    (review,) = reviews.signed(user("auditor"))
    assert reviews.servers_text(review) == "not judged"


def test_a_corrected_review_does_not_count(sign, days):
    wrong = sign(whole(3))
    sign(whole(3), "db1", corrects=wrong)
    assert days(whole(3)) == {f"{day(3):%F}": ("partly reviewed", 0, 1, 2)}


def test_a_server_counts_from_the_day_on_which_it_was_first_known(admin, sign, days):
    admin.insert("tailrace.ledger", [posting("db3", day(2) + HOUR)])
    sign(Period(day(4), day(1)), *SERVERS)
    assert days(Period(day(4), day(1))) == {f"{day(2):%F}": ("partly reviewed", 0, 2, 3)}


def test_only_known_servers_can_be_named(sign, user):
    with pytest.raises(ReviewError, match="known are: db1, db2"):
        sign(whole(3), "db1", "db7")
    assert reviews.signed(user("auditor")) == []


def test_reviews_are_listed_with_their_servers_and_corrections(sign, user):
    wrong = sign(whole(3))
    right = sign(whole(3), "db2", "db1", corrects=wrong)
    statement = framework.result("reviews").statement()
    rows = user("reader_compliance").rows(statement, whole(3).parameters())
    assert [row["servers_reviewed"] for row in rows] == ["all servers", "db1, db2"]
    assert [row["corrected_by"].replace("-", "") for row in rows] == [right, ""]
    assert [row["reviewed"] for row in rows] == [reviews.EVERYTHING, "servers db2, db1"]


def test_only_days_that_reviews_cover_completely_are_not_listed(admin, user, rendered):
    ask = asking(user, rendered)
    day = NOW.replace(hour=0, minute=0, second=0) - timedelta(days=3)
    signed = {"actor": "olga", "scope": "all", "finding": "none"}

    def review(first, end, **more):
        period = {"period_from": f"{first:%F %T}", "period_to": f"{end:%F %T}"}
        return {"review_id": str(uuid.uuid4()), **signed, **period, **more}

    whole = review(day, day + timedelta(days=1), covers="all servers")
    minute = day + timedelta(days=1, hours=10)
    part = review(minute, minute + timedelta(minutes=1), covers="all servers")
    old = review(day - timedelta(days=1), day)
    stored(admin, "reviews", whole, part, old)
    days = {row["day"]: row for row in ask("coverage_unreviewed")}
    expected = {f"{NOW - timedelta(days=number):%F}" for number in range(8)} | {RANGE[1][:10]}
    assert days.keys() == expected - {f"{day:%F}"}
    assert days[f"{minute:%F}"]["state"] == "partly reviewed"
    assert days[f"{minute:%F}"]["reviewed_parts"] == "10:00 to 10:01 all servers"
    assert days[f"{day - timedelta(days=1):%F}"]["state"] == "scope not judged"
    found = {row["reviewed_from"]: row["servers_reviewed"] for row in ask("coverage_reviews")}
    assert found[whole["period_from"]] == "all servers" and found[old["period_from"]] == "not judged"


def test_exports_are_those_of_any_part_of_the_range(admin, user, rendered):
    def export(name: str, first: int, end: int) -> dict:
        ends = (f"{NOW - timedelta(days=days):%F %T}" for days in (first, end))
        period = dict(zip(("period_from", "period_to"), ends, strict=True))
        known = {"export_id": str(uuid.uuid4()), "actor": "olga", "framework": "pci"}
        return {**known, **period, "manifest_sha256": "0" * 64, "file": name}

    exports = (export("long ago", 90, 60), export("begins before", 60, 3), export("in it", 3, 1))
    stored(admin, "evidence_exports", *exports)
    assert {row["file"] for row in asking(user, rendered)("coverage_exports")} == {"begins before", "in it"}
