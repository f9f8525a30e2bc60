"""What the page Search offers to people who do not know its fields, or the words of older servers."""

import pytest

from tailrace.search import parse, text_of
from tailrace_pages.search import asking, listing


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("replica", "slave"),
        ("Replica", "slave"),
        ("shop-db-2 source last:7d", "shop-db-2 master last:7d"),
        ('user:ann "replica I/O"', 'user:ann "slave I/O"'),
        ("slave", None),
        ("replication", None),
        ("user:replica", None),
        ("-replica", None),
        ("resource", None),
    ],
)
def test_words_of_today_lead_to_those_that_older_servers_write(text, other):
    found = asking.with_other_words(parse(text))
    assert (text_of(found) if found else None) == (text_of(parse(other)) if other else None)


def test_the_page_lists_the_fields_that_a_role_can_search():
    (kind,) = (row for row in listing.fields("security") if row["names"] == "kind")
    assert "connection, refused, statement" in kind["values"]
    names = {role: {row["names"] for row in listing.fields(role)} for role in ("developers", "security")}
    assert "rule" in names["security"] and "rule" not in names["developers"]
    assert "instance, server" in names["developers"]
    assert all(column.key in kind for column in listing.FIELDS)
