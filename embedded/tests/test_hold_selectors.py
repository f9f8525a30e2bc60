"""The selectors of legal holds as they are stored: by the command, and by people where there is none."""

from datetime import UTC, date, datetime

import pytest

from tailrace.retention.selectors import Selector, SelectorError, from_json, parse


@pytest.mark.parametrize("text", ["instance:db1 instance:db2 user:etl", "from:2026-10-01 to:2026-10-31"])
def test_a_selector_is_read_as_it_was_stored(text):
    assert from_json(parse(text).as_json()) == parse(text)


def test_a_text_is_one_value_and_times_are_those_of_the_command():
    found = from_json('{"instance": "db1", "from": "2026-10-01T02:00+02:00", "to": "2026-10-31"}')
    assert found == Selector(
        {"instance": ("db1",)}, datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
    )
    assert found.touches(date(2026, 10, 31)) and not found.touches(date(2026, 11, 1))


@pytest.mark.parametrize(
    "stored",
    ["", "[]", "{}", '{"color": ["red"]}', '{"user": []}', '{"user": 7}', '{"from": "x"}', '{"to": 7}'],
)
def test_what_is_no_selector_is_not_ignored(stored):
    with pytest.raises(SelectorError):
        from_json(stored)
