"""Numbers that are links keep the time range and the chosen clusters and servers."""

import re
from urllib.parse import unquote

import pytest
from developer_rows import RANGE


@pytest.fixture
def link(user, rendered, metric):
    """Returns a function that returns the decoded filters of the link of the number of errors."""

    def ask(**filters: list[str]) -> str:
        wanted = metric("errors", "linked_notable", time_range=RANGE, **filters)
        (row,) = user("reader_developer").rows(
            f"SELECT {wanted} AS number FROM ({rendered('errors', *RANGE, **filters)}\n)"
        )
        return unquote(re.search(r"native_filters=([^#\"]+)", row["number"])[1])

    return ask


def test_without_filters_a_link_has_the_time_range_alone(link):
    assert link().count("NATIVE_FILTER") == 2
    assert "NATIVE_FILTER-time-range" in link()


def test_a_link_keeps_the_chosen_clusters_and_servers(link):
    kept = link(cluster=["shop"], instance=["it's-db", "db!2"])

    assert "NATIVE_FILTER-cluster:(extraFormData:(filters:!((col:cluster,op:IN,val:!('shop'))))" in kept
    assert "filters:!((col:instance,op:IN,val:!('it!'s-db','db!!2'))))" in kept
    assert "filterState:(label:'it!'s-db, db!!2',value:!('it!'s-db','db!!2'))" in kept
