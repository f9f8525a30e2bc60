"""Tests the work that tailrace_superset_patches.py and tailrace_audited_connection.py save per chart.

Both are in embedded/superset. The first tests count in a separate process (query_cost.py), the others query
the running Superset.
"""

import gzip
import json
import os
import re
import sqlite3
import subprocess
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from dashboards.tests.test_roles import (  # noqa: F401 - fixtures
    admin,
    charts,
    clients,
    in_its_place,
)
from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace_local.components.superset import Superset

pytestmark = pytest.mark.browser

QUERY_COST = Path(__file__).with_name("query_cost.py")


@pytest.fixture(scope="module")
def took(stack, tmp_path_factory) -> dict:
    """Returns the output of query_cost.py on a copy of the metadata."""
    component = Superset(stack.settings, stack.home)
    home = tmp_path_factory.mktemp("superset")
    file = stack.home.data("superset") / "superset.db"
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(home / file.name)) as copy:
        source.backup(copy)
    own = {"SUPERSET_HOME": str(home), "SUPERSET_TRUSTED_PROXIES": "10.42.0.0/16"}
    environment = {**os.environ, **component.environment(), **own}
    said = subprocess.run(
        [component.python(), QUERY_COST], env=environment, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stderr[-3000:]
    return json.loads(said.stdout.splitlines()[-1])


def test_nothing_is_parsed_compiled_or_asked_for_again(took):
    assert took["first"]["calls"]["compiled"] and took["first"]["calls"]["parsed"], "it is counted"
    assert not took["again"]["error"]
    assert took["again"]["calls"] == {}


def test_a_dataset_is_not_parsed_again_for_another_value_of_a_filter(took):
    first, again = took["named"]
    assert first["calls"]["parsed"] and "parsed" not in again["calls"]
    assert "'it''s; #2'" in again["sql"] and not again["error"] and first["key"] != again["key"]


def test_permissions_of_a_role_are_read_once_in_a_request_and_are_those_of_superset(took):
    permissions = took["permissions"]
    assert permissions["found"] == permissions["wanted"]
    answers = {answer for each in permissions["found"].values() for answer in each}
    assert answers == {True, False}
    assert len(permissions["statements"]) == len(permissions["found"]), permissions["statements"]
    assert all({*each} == {True, False} for each in permissions["views"].values()) and permissions["views"]


def test_a_granted_permission_holds_from_the_next_request_on(took):
    assert took["permissions"]["granted"] == [False, True]


def test_yaml_is_read_and_written_by_libyaml(took):
    assert took["yaml"]["again"] == took["yaml"]["asset"]
    assert took["yaml"]["keys"] == list(took["yaml"]["asset"]), "in its order"
    assert took["yaml"]["calls"] == {}


def test_an_import_writes_the_columns_of_a_dataset_together_and_asks_for_no_table(took):
    few, many = took["imported"]
    assert few["written"] == many["written"] and "executed" not in many


def test_other_times_are_other_questions(took):
    first, again = took["first"], took["again"]
    assert "2026-01-02 00:00:00" in first["sql"] and "2026-01-08 00:00:00" in again["sql"]
    assert first["key"] != again["key"]


def test_a_dataset_is_one_statement_that_reads(took):
    assert "multiple statements" in took["two statements"]["error"]
    assert "read-only" in took["writes"]["error"]
    assert not took["nothing"]["error"] and took["nothing"]["rows"] == 1


def test_a_semicolon_ends_a_statement_or_stands_in_a_string(took):
    assert took["one of two"] == [2]
    assert took["one with a sign"] == ["%;"]
    assert took["one as it is"] == ["%"]


def test_the_database_is_known_without_asking(took, stack):
    assert took["schema"] == took["inspected schema"] == "tailrace"


def test_rules_of_superset_about_a_table_below_hold_and_are_part_of_the_key(took):
    restricted, otherwise = took["restricted"], took["restricted otherwise"]
    assert "'nobody'" in restricted["sql"] and "'another'" in otherwise["sql"]
    assert restricted["key"] != otherwise["key"]
    assert "'another'" in took["restricted again"]["sql"]
    assert restricted["calls"]["parsed"] == 2, "the statement and the rule, once each"
    assert took["restricted again"]["key"] != took["first"]["key"]


def test_each_statement_names_its_user_with_concurrent_users(took):
    for name, said in took["users"].items():
        assert {json.loads(each)["user"] for each in said} == {name} and len(said) == 3
    assert len(set(took["sessions"])) == len(took["users"]) == 12


def test_a_page_says_that_no_server_answers(took):
    said = "BusyError: ClickHouse does not answer. Try again in a moment; Superset's log has the reason."
    assert took["unanswered"] == [said, said]


def test_a_page_says_why_a_query_failed_and_what_to_do(took):
    slow, many, nothing = took["refused"]
    assert slow == (
        "BusyError: ClickHouse stopped a query of this page after 20 seconds. "
        "Try again in a moment; if that fails, choose a shorter time range or more filters."
    )
    assert many.startswith("UnavailableError: A query found too many rows; choose a shorter time range")
    assert nothing.startswith("UnavailableError: ClickHouse refused a query of this page")


def test_the_page_of_an_error_that_may_pass_repeats_the_request(took):
    read, sent, stays = took["error pages"]
    assert read == {"status": 503, "wait": "10", "links": ["/tailrace/alerts/?range=7d"]}
    assert sent == {"status": 503, "wait": "10", "links": []}, "a link would not send the form again"
    assert stays == {"status": 503, "wait": None, "links": []}


def test_trusted_proxies_name_the_client_and_the_scheme(took):
    assert took["clients"] == [["192.0.2.7", "https"], ["192.0.2.66", "http"]]


def test_charts_are_drawn_after_clickhouse_was_restarted(stack, clients, charts):  # noqa: F811
    chart = next(chart for chart in charts if chart.slug == "slow-queries")
    clients["developer"].post("/api/v1/chart/data", in_its_place(chart))
    with stack.without("clickhouse"):
        pass
    stack.await_healthy()
    answer = clients["developer"].post("/api/v1/chart/data", in_its_place(chart))
    assert not answer["result"][0]["error"]


def test_the_log_of_requests_has_one_row_for_a_chart(stack, clients, charts):  # noqa: F811
    chart = next(chart for chart in charts if chart.slug == "slow-queries")
    before = _logged(stack)
    clients["developer"].post("/api/v1/chart/data", in_its_place(chart))
    assert _logged(stack)[len(before) :] == ["ChartDataRestApi.data"]


def test_pages_are_read_while_an_import_writes(stack, clients):  # noqa: F811
    with closing(
        sqlite3.connect(
            stack.home.data("superset") / "superset.db", timeout=LIMIT_SECONDS, isolation_level=None
        )
    ) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert clients["developer"].get("/api/v1/me/")["result"]["is_active"]
        other.execute("ROLLBACK")


def test_data_is_cached_for_its_roles_until_rows_arrive(stack, clients, charts):  # noqa: F811
    chart = next(chart for chart in charts if chart.slug == "rule-coverage" and "pushed_by" in chart.columns)
    asked = {**in_its_place(chart), "force": False}
    asked["queries"] = [{**asked["queries"][0], "columns": ["pushed_by"]}]

    def answer(key: str) -> dict:
        return clients[key].post("/api/v1/chart/data", asked)["result"][0]

    def shows(name: str) -> bool:
        return name in json.dumps(answer("security")["data"])

    assert [answer("security")["is_cached"] for _ in range(2)] == [None, True]
    assert [answer("admin")["is_cached"] for _ in range(2)] == [None, True], "not the data of another role"
    clickhouse = stack.clickhouse()
    clickhouse.execute(
        "INSERT INTO tailrace.rule_pushes (push_id, at, pushed_by) VALUES ('new', now(), 'ann')"
    )
    try:
        wait_until(lambda: shows("ann"), "the new row")
    finally:
        clickhouse.execute("DELETE FROM tailrace.rule_pushes WHERE push_id = 'new'")
    wait_until(lambda: not shows("ann"), "the row to be gone")


def test_scripts_are_compressed_once_and_kept_by_browsers(stack, admin):  # noqa: F811
    page = urllib.request.urlopen(f"{admin.url}/login/").read().decode()
    script = re.search(r'src="(/static/assets/spa\.[^"]+)"', page)[1]
    bodies = {}
    for accepted, encoding in (("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("br;q=0", None)):
        request = urllib.request.Request(f"{admin.url}{script}", headers={"Accept-Encoding": accepted})
        with urllib.request.urlopen(request) as answer:
            assert answer.headers["Content-Encoding"] == encoding
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
            assert answer.headers["Vary"] == "Accept-Encoding"
            assert answer.headers["Content-Type"].startswith("text/javascript")
            bodies[encoding] = answer.read()
    assert gzip.decompress(bodies["gzip"]) == bodies[None] and len(bodies["br"]) < len(bodies["gzip"])
    known = urllib.request.Request(
        f"{admin.url}{script}", headers={"If-None-Match": f'"{script.rpartition("/")[2]}"'}
    )
    with pytest.raises(urllib.error.HTTPError, match="304"):
        urllib.request.urlopen(known)


def _logged(stack) -> list[str]:
    """Returns the actions in Superset's log, oldest first."""
    file = stack.home.data("superset") / "superset.db"
    with sqlite3.connect(f"file:{file}?mode=ro", timeout=LIMIT_SECONDS, uri=True) as metadata:
        return [action for (action,) in metadata.execute("SELECT action FROM logs ORDER BY id")]
