"""Tests rows that requests share for half a minute (recent_rows.py)."""

import pytest

from tailrace.clickhouse.query_files import text_of
from tailrace_pages.recent_rows import IN_MINUTES, MOST, SECONDS, RecentRows

RANGE = {"from": "2026-11-24 08:30:12", "to": "2026-11-24 09:30:12"}


class Server:
    """Counts readings; each returns its number."""

    def __init__(self) -> None:
        self.readings, self.seconds = 0, 100.0
        self.recent = RecentRows(lambda: self.seconds)

    def read(self) -> list[dict]:
        self.readings += 1
        return [{"reading": self.readings}]

    def ask(
        self, audience: str = "tailrace", query: str = "page_query_coverage", **parameters: object
    ) -> int:
        ((row),) = self.recent.of(audience, query, {**RANGE, **parameters}, self.read)
        return row["reading"]


def test_requests_of_the_same_minutes_share_rows_for_half_a_minute():
    server = Server()
    assert server.ask() == server.ask(**{"from": "2026-11-24 08:30:59"}) == 1
    server.seconds += SECONDS - 1
    assert server.ask() == 1
    server.seconds += 1
    assert server.ask() == 2


@pytest.mark.parametrize(
    "other",
    [
        {"audience": "tailrace_audit"},
        {"query": "another"},
        {"to": "2026-11-24 09:31:12"},
        {"servers": ["db1"]},
        {"width": 60},
    ],
)
def test_other_viewers_queries_and_parameters_are_read(other):
    server = Server()
    assert (server.ask(), server.ask(**other), server.ask()) == (1, 2, 1)


def test_the_oldest_result_is_forgotten_first():
    server = Server()
    for number in range(MOST + 1):
        server.ask(width=number)
    assert server.ask(width=1) == 2
    assert server.ask(width=0) == MOST + 2


def test_an_error_is_not_kept():
    server, read = Server(), RecentRows()

    def fail() -> list[dict]:
        raise OSError

    with pytest.raises(OSError):
        read.of("tailrace", "q", RANGE, fail)
    assert read.of("tailrace", "q", RANGE, server.read) == [{"reading": 1}]


def test_other_queries_are_shared_for_equal_times_only():
    server = Server()
    assert server.ask(query="q") == server.ask(query="q") == 1
    assert server.ask(query="q", **{"from": "2026-11-24 08:30:59"}) == 2


@pytest.mark.parametrize("query", sorted(IN_MINUTES))
def test_shared_queries_read_their_range_as_whole_minutes(query):
    text = text_of(query)
    for name in ("from", "to"):
        parameter = f"{{{name}:DateTime('UTC')}}"
        assert text.count(parameter) == 1, "the parameter is read once, as the name that is rounded below"
