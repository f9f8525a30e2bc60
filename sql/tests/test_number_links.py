"""Numbers that are links keep the time range and the chosen clusters and servers."""

import json
import re
from urllib.parse import unquote

import jinja2
import pytest
from developer_rows import RANGE

from tailrace.clickhouse.query_files import QUERIES, with_included_queries
from tailrace.config.resources import REPOSITORY
from tailrace_pages import formats


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


DURATIONS = json.loads((REPOSITORY / "schemas" / "contracts" / "durations.json").read_text())


def test_durations_in_texts_are_those_of_the_work_pages(user):
    values = ", ".join(str(float(each)) for each in DURATIONS)
    text = with_included_queries((QUERIES / "parts" / "number_links.sql").read_text(), QUERIES)
    environment = jinja2.Environment()
    environment.filters["where_in"] = str
    macros = environment.from_string(text).module
    shown = macros.readable_seconds("seconds")
    rows = user("reader_developer").rows(
        f"SELECT {shown} AS text FROM (SELECT arrayJoin([{values}, NULL]) AS seconds)"
    )
    assert [row["text"] for row in rows] == [*map(formats.duration, DURATIONS), None]
