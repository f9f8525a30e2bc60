"""Tests signed reviews: time and account of the server, search by period, corrections."""

from datetime import UTC, datetime

import pytest

from tailrace.clickhouse.client import ClickHouseError
from tailrace.evidence import reviews
from tailrace.evidence.period import Period
from tailrace.evidence.reviews import Review, ReviewError

ACCESS_DENIED = 497


def days(first: int, end: int) -> Period:
    return Period(datetime(2026, 10, first, tzinfo=UTC), datetime(2026, 10, end, tzinfo=UTC))


def test_a_review_has_author_period_and_findings(admin, user):
    id_ = reviews.sign(
        user("auditor"), Review("ines", days(1, 2), "nothing; it's fine \\ 'ok' \n\N{SNOWMAN}")
    )

    (row,) = reviews.signed(user("auditor"))
    assert (row["id"], row["actor"], row["scope"]) == (id_, "ines", reviews.EVERYTHING)
    assert (row["period_from"], row["period_to"]) == ("2026-10-01 00:00:00", "2026-10-02 00:00:00")
    assert row["finding"] == "nothing; it's fine \\ 'ok' \n\N{SNOWMAN}"
    assert row["account"] == "auditor"


def test_reviews_of_a_period_are_those_that_touch_it(admin, user):
    for first in (1, 2, 3, 4):
        reviews.sign(user("auditor"), Review(f"day {first}", days(first, first + 1), "x"))

    assert [row["actor"] for row in reviews.signed(user("auditor"), days(2, 4))] == ["day 2", "day 3"]


def test_a_wrong_review_is_corrected_by_another(admin, user):
    wrong = reviews.sign(user("auditor"), Review("ines", days(1, 2), "nothing"))
    reviews.sign(user("auditor"), Review("ines", days(1, 2), "one refused login", corrects=wrong[:10]))

    first, second = reviews.signed(user("auditor"))
    assert (first["corrects"], second["corrects"]) == ("", wrong)


@pytest.mark.parametrize("corrects", ["ffff", "no id", "' OR 1"])
def test_only_a_review_can_be_corrected(admin, user, corrects):
    with pytest.raises(ReviewError):
        reviews.sign(user("auditor"), Review("ines", days(1, 2), "x", corrects=corrects))
    assert reviews.signed(user("auditor")) == []


@pytest.mark.parametrize("reader", ["reader_compliance", "reader_security", "analyst", "writer"])
def test_nobody_else_signs(admin, user, reader):
    with pytest.raises(ClickHouseError) as error:
        reviews.sign(user(reader), Review("ines", days(1, 2), "x"))
    assert error.value.code == ACCESS_DENIED
