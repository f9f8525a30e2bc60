"""Tests the pages of statements over HTTP, as developers and analysts, with rows of a day a month ago."""

import csv
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from html import unescape

import pytest
from requests import Response

from dashboards.tests.pages import Visitor, parsed
from dashboards.tests.statement_rows import (
    DIGEST,
    END,
    HOSTILE,
    IT,
    LOCK_WAIT,
    NAMED,
    PASTED,
    PATH,
    ROWS,
    SHOWN,
    SPAN,
    START,
    USER,
)
from tailrace_local import clickhouse as local_clickhouse

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def readers(stack, visitors) -> dict[str, Visitor]:
    """The visitors by their role, after the rows are stored."""
    writer = local_clickhouse.connect(stack.settings, stack.home, "writer")
    for table, rows in ROWS.items():
        writer.insert(f"tailrace.{table}", rows)
    local_clickhouse.connect(stack.settings, stack.home, "facts").insert(
        "tailrace.metadata_lock_waits", [LOCK_WAIT]
    )
    return visitors


@pytest.fixture(scope="module")
def page_of(readers) -> Callable[[str], Response]:
    """Returns the page of the statement for a role, after one request per role."""
    return cache(lambda role: readers[role].get(PATH, **SPAN))


@pytest.fixture
def developer(readers) -> Visitor:
    return readers["developer"]


@pytest.fixture
def analyst(readers) -> Visitor:
    return readers["security"]


def words(html: str) -> str:
    """Returns the texts of a page with single blanks."""
    return " ".join(" ".join(parsed(html).words).split())


def test_a_statement_is_found_by_pasted_sql(developer):
    found = words(developer.get("/tailrace/queries/", q=PASTED, **SPAN).text)
    assert f"The query id of the pasted statement is {SHOWN}." in found
    assert "The pasted statement" in found and SHOWN[:8] in found


def test_a_pasted_statement_with_placeholders_of_a_driver_finds_a_similar_one(developer):
    bound = PASTED.replace("17", ":id").replace("'two'", "%s")
    found = words(developer.get("/tailrace/queries/", q=bound, **SPAN).text)
    assert "differ from the pasted one only in spaces, quotes of names or placeholders" in found
    assert SHOWN[:8] in found


def test_columns_in_another_order_find_the_statement_with_the_same_tables_and_verb(developer):
    other = PASTED.replace(f"a, `{HOSTILE}`", f"`{HOSTILE}`, a").replace("ORDER", "AND o.c = 3 ORDER")
    html = developer.get("/tailrace/queries/", q=other, **SPAN).text
    found = words(html)
    assert "No query with exactly this text. Queries with the same tables and verb, most words" in found
    assert "Its tables: pages_orders" in found and SHOWN[:8] in found and PATH in html


@pytest.mark.parametrize("text", [SHOWN, SHOWN.lower(), f"0x{SHOWN}"])
def test_a_query_id_leads_to_its_page(developer, text):
    answer = developer.get("/tailrace/queries/", q=text, **SPAN)
    assert (answer.status_code, answer.headers["Location"].split("?")[0]) == (302, PATH)
    assert "from=" in answer.headers["Location"], "the time range is kept"


def test_a_text_of_any_length_is_searched_by_the_form(developer, stack):
    """A short text or fingerprint becomes a link; a long one does not fit into an address."""
    path = f"/tailrace/queries/?from={SPAN['from']}&to={SPAN['to']}"
    short = developer.submit(path, {"q": PASTED.replace("two", "hunter2")}, path)
    assert (short.status_code, "q=select" in short.headers["Location"]) == (303, True)
    assert "from=" in short.headers["Location"], "the time range is kept"
    assert SHOWN in words(developer.get(short.headers["Location"]).text)
    developer.session.cookies.pop("tailrace_range", None)
    ranged = developer.submit("/tailrace/queries/", {"q": PASTED}, "/tailrace/queries/")
    assert "range=24h" in ranged.headers["Location"], "the range that the page shows is in its address"
    shown = developer.get(ranged.headers["Location"]).text
    address = unescape(re.search(r'href="([^"]+)"[^>]*>Link with fixed times', shown)[1])
    assert "q=select" in address and "from=" in address and "range=" not in address
    assert "Link with fixed times" not in developer.get(address).text
    many = ", ".join(str(number) for number in range(15_000))
    long = developer.submit(path, {"q": PASTED.replace("1, 'two'", many)}, path)
    assert (long.status_code, long.headers["Location"]) == (303, short.headers["Location"])
    columns = ", ".join(f"column_{'x' * (number % 90)}" for number in range(90))
    long = developer.submit(path, {"q": f"SELECT {columns} FROM t WHERE a = 'hunter2'"}, path)
    assert long.status_code == 200 and "The query id of the pasted statement is" in words(long.text)
    assert developer.submit(path, {"q": "x" * 100_001}, path).status_code == 400
    assert "/login" in developer.post(path, {"q": PASTED}).headers.get("Location", ""), "without a token"
    assert "hunter2" not in stack.home.log("superset").read_text()


@pytest.mark.parametrize(
    ("text", "group"),
    [
        (SHOWN[:6], "Query id"),
        (str(IT), "Query id"),
        ("pages_orders", "Statements that read or write the table"),
        ("FROM pages_orders o", "Statements that contain the text"),
        ("it's \"not\" there ') OR 1=1", "No stored statement has this query id, table or text."),
        ("C:\\back\\", "No stored statement has this query id, table or text."),
        ("SELECT nothing FROM nowhere", "No stored statement is the pasted one or contains it."),
        ("SELECT a,", "Statements that contain the text"),
        (DIGEST, "Server digest"),
        ("ab" * 32, "Paste the DIGEST_TEXT of performance_schema instead"),
    ],
)
def test_a_search_says_what_it_found(developer, text, group):
    answer = developer.get("/tailrace/queries/", q=text, **SPAN)
    assert answer.status_code == 200
    assert group in words(answer.text)


def test_the_name_of_a_file_has_the_time_range(developer):
    answer = developer.get("/tailrace/queries/", format="csv", **SPAN)
    assert answer.headers["Content-Disposition"].endswith(f'queries-{START:{NAMED}}-{END:{NAMED}}.csv"')


def test_the_heaviest_statements_are_listed(developer):
    found = words(developer.get("/tailrace/queries/", cluster="pages-of-queries", **SPAN).text)
    assert "Statements with the most total time" in found
    assert "12.5 s 100.0 % 62\N{MULTIPLICATION SIGN} 6 4.5 s" in found, "time, share, change, executions, p95"


def test_the_page_of_a_statement_has_its_numbers(page_of):
    answer = page_of("developer")
    found = words(answer.text)
    assert answer.status_code == 200
    assert "SELECT pages_orders" in found and "Slow logs contain: unknown on 1 of 1 server" in found
    assert (
        "Executions 6" in found
        and "Latency p95 4.5 s" in found
        and "Rows examined per execution 500" in found
    )
    assert "10.9.8.7" in found and "/cart" in found


def test_the_current_plan_is_compared_and_its_advice_is_ddl(page_of):
    found = words(page_of("developer").text)
    assert "\N{MINUS SIGN} o: ref by by_id, 7 rows removed" in found
    assert "+ o: ALL, 51,000 rows added ⚠ reads all rows (51,000)" in found
    assert "slower: 6 times as long (40 executions before, 20 after)" in found
    assert "Executions with a known plan: 6 of 6." in found
    assert "CREATE INDEX `pages_orders_id_b` ON `pages`.`pages_orders` (`id`, `b`);" in found


def test_charts_have_their_data_and_the_heat_map_is_in_the_page(page_of):
    tags = parsed(page_of("developer").text).tags
    load, latency = (
        json.loads(attributes["data-chart"]) for _, attributes in tags if "data-chart" in attributes
    )
    shown = [value for value in load["series"][0]["values"] if value]
    assert len(shown) == 2, "the last two are in one bucket; before the first one the load is unknown"
    assert max(filter(None, latency["series"][1]["values"])) == 4.5
    assert "plan BBBB" in [mark["label"] for mark in load["marks"]]
    assert len([name for name, _ in tags if name == "rect"]) == 3


def test_a_range_without_entries_says_so_and_links_to_the_last_one(developer):
    answer = developer.get(PATH, range="1h")
    assert "The slow logs have no entry of this statement in this time range." in words(answer.text)
    addresses = [attributes.get("href") or "" for _, attributes in parsed(answer.text).tags]
    assert addresses.count("/tailrace/setup/") == 2, "of the menu, and where plans are missing"
    since_yesterday = "|".join(f"{datetime.now(UTC) - timedelta(days=ago):%Y-%m-%d}" for ago in (0, 1))
    days_ago = re.compile(rf"{PATH}\?from=(?!{since_yesterday})")
    (link,) = filter(days_ago.match, addresses)
    assert "Executions 8" in words(developer.get(link).text)


def test_only_roles_with_entity_pages_get_links_to_them(page_of):
    def links(role: str) -> list[str]:
        tags = parsed(page_of(role).text).tags
        return [
            attributes["href"]
            for _, attributes in tags
            if "/tailrace/entities/" in (attributes.get("href") or "")
        ]

    assert not [link for link in links("developer") if "pages_orders" in link]
    assert any(link.startswith("/tailrace/entities/table/pages_orders/?from=") for link in links("security"))


def test_names_lead_a_role_without_entity_pages_to_the_search(developer, page_of):
    tags = parsed(page_of("developer").text).tags
    links = {
        attributes["href"]
        for _, attributes in tags
        if "/tailrace/search/?q=" in (attributes.get("href") or "")
    }
    fields = {link.partition("?q=")[2].partition("%3A")[0] for link in links}
    assert {"user", "client", "table", "endpoint", "application"} <= fields
    waited, table = sorted(link for link in links if "?q=table" in link)
    assert waited.startswith("/tailrace/search/?q=table%3A%22pages.pages_orders%22&from=")
    assert table.startswith("/tailrace/search/?q=table%3A%22pages_orders%22&from=")
    assert {developer.get(link).status_code for link in (waited, table)} == {200}


def test_unmasked_samples_say_which_role_shows_them(developer):
    answer = developer.get(f"{PATH}samples/", **SPAN)
    assert answer.status_code == 403
    assert "The role Tailrace unmasked samples shows them" in words(answer.text)


def test_the_page_states_the_ddl_the_deadlocks_and_the_versions_of_the_statement(page_of):
    answer = page_of("developer")
    found = words(answer.text)
    assert "alter table pages_orders drop index by_id" in found
    assert "index by_id of pages_orders was dropped at" in found
    assert "CREATE INDEX `by_id` ON `pages`.`pages_orders` (`id`);" in found
    assert "Versions that ran this statement, by its tags and traces: pages-web 2" in found
    assert "warehouse" in found and "the other one" in found
    (load, *_) = (
        json.loads(attributes["data-chart"])
        for _, attributes in parsed(answer.text).tags
        if "data-chart" in attributes
    )
    assert [mark["label"] for mark in load["marks"]] == [
        "pages-web 2",
        "index by_id dropped",
        "plan BBBB",
    ]


def test_the_page_states_who_waited_for_whom_on_its_tables(page_of):
    found = words(page_of("developer").text)
    assert "each with a session that had a lock: all 1; the CSV file" in found
    assert "1 min 5 s pages-1 pages.pages_orders migration, connection 7 EXCLUSIVE" in found
    assert f"{USER} from 10.9.8.7, connection 8 SHARED_READ idle for 1 h" in found


def test_all_deadlocks_of_a_statement_are_behind_a_link(developer):
    short = developer.get(PATH, **SPAN).text
    assert "the latest 10 of 13;" in short and "Show all 13 rows" in short
    (link,) = (each for each in re.findall(r'href="([^"]+)"', short) if "all=deadlocks" in each)
    whole = developer.get(unescape(link).partition("#")[0]).text
    assert "by the error logs: all 13;" in whole and "Show fewer rows" in whole
    assert whole.count("the other one") == 13 and short.count("the other one") == 10


@pytest.mark.parametrize("path", [PATH, "/tailrace/queries/"])
def test_texts_of_logs_are_text(analyst, path):
    """Names and statements of logs stay text, and the policy forbids inline scripts."""
    answer = analyst.get(path, cluster="pages-of-queries", **SPAN)
    assert HOSTILE in words(answer.text)
    assert "<script>alert" not in answer.text and "<img" not in answer.text
    assert not [
        name
        for name, attributes in parsed(answer.text).tags
        if any(each.startswith("on") for each in attributes)
    ]
    assert "unsafe-inline" not in answer.headers["Content-Security-Policy"].split("style-src-attr")[0]


def test_every_table_is_a_csv_file(developer):
    callers = developer.get(PATH, format="csv", table="callers", **SPAN)
    rows = list(csv.DictReader(callers.text.splitlines()))
    assert {row["User"] for row in rows} == {USER} and sum(float(row["Executions"]) for row in rows) == 6
    for name in (
        "buckets",
        "servers",
        "plans",
        "changes",
        "requests",
        "tables",
        "ddl",
        "deadlocks",
        "lock_waits",
        "counters",
    ):
        answer = developer.get(PATH, format="csv", table=name, **SPAN)
        assert (answer.status_code, answer.headers["Content-Type"].split(";")[0]) == (200, "text/csv"), name


@pytest.mark.parametrize(
    ("path", "arguments", "status"),
    [
        ("/tailrace/queries/select/", {}, 400),
        ("/tailrace/queries/00000000000000AB/", {}, 404),
        (PATH, {"range": "1y"}, 400),
        (PATH, {"format": "csv", "table": "secrets"}, 400),
    ],
)
def test_a_wrong_address_gets_a_sentence(developer, path, arguments, status):
    answer = developer.get(path, **arguments)
    assert answer.status_code == status
    assert "sentence" in answer.text
