"""The page Setup with thousands of servers."""

from datetime import UTC, datetime

from tailrace_pages.setup import listing, servers
from tailrace_pages.setup.servers import Found, by_instance

AT = datetime(2026, 11, 24, 8, 30, tzinfo=UTC)
COUNT = 10_000


def log(instance: str) -> dict:
    whose = {"instance": instance, "cluster": "shop", "source": "audit", "log": "/log/audit.log"}
    return {**whose, "state": "arriving", "read_at": AT, "census_at": AT, "lag_seconds": 0, "unread_bytes": 0}


def test_a_page_has_some_of_thousands_of_servers_and_a_text_finds_others():
    logs = by_instance(log(f"DB-{number:05}") for number in range(COUNT))
    known = servers.servers(Found(logs, {}, {}, {}, {}, {}, sees_all=True))
    count = listing.pages(known)
    assert (count, listing.pages([]), listing.pages(known[:201])) == (50, 1, 2)
    pages = [listing.page(known, number) for number in range(1, count + 2)]
    assert [len(page) for page in pages] == [listing.PAGE_SIZE] * count + [0]
    assert {each.instance for page in pages for each in page} == {each.instance for each in known}
    found = listing.of_name(known, "db-0999")
    assert [each.instance for each in found] == [f"DB-0999{number}" for number in range(10)]
    assert len(listing.of_name(known, "SHOP")) == len(listing.of_name(known, "")) == COUNT
