"""The colours of servers in the charts of all dashboards (tailrace_server_colours.py)."""

import json

import pytest
import tailrace_server_colours as colours
from flask import Flask

PALETTE = ["#1B66F8", "#D4771A", "#36796F", "#C739A5", "#1396D7", "#DF0913", "#8F8F8F", "#697239"]
SERVERS = ["shop-db-1", "shop-db-2", "billing-db-1", "catalog-db-1", "журнал", "<b>"]


def test_servers_have_different_colours_which_mean_nothing_else():
    found = colours.colours_of(SERVERS, PALETTE)
    assert [*found] == SERVERS
    assert len({*found.values()}) == len(SERVERS)
    assert not {*found.values()} & {*colours.LAST}


def test_a_new_server_changes_no_colour_and_many_servers_share_all_colours():
    names = [f"db{number}" for number in range(20)]
    for count in range(1, len(names)):
        before, after = (colours.colours_of(names[:known], PALETTE) for known in (count, count + 1))
        assert before.items() < after.items()
    counts = [[*after.values()].count(colour) for colour in PALETTE]
    assert sum(counts) == len(names) and max(counts) - min(counts) == 1


def test_colours_that_a_dashboard_names_count_first():
    metadata = {"color_scheme": "tailrace", "label_colors": {"p95": "#1B66F8", "audit log": "#DF0913"}}
    dashboard = {"slug": "slow-queries", "json_metadata": json.dumps(metadata)}
    changed = colours.with_colours(dashboard, {"shop-db-1": "#36796F", "audit log": "#1396D7"})
    assert json.loads(changed["json_metadata"])["label_colors"] == {
        "shop-db-1": "#36796F",
        "audit log": "#DF0913",
        "p95": "#1B66F8",
    }


@pytest.mark.parametrize("metadata", [None, "{}", '{"color_scheme": "supersetColors"}'])
def test_a_dashboard_with_another_palette_stays(metadata):
    assert colours.with_colours({"json_metadata": metadata}, {"shop-db-1": "#36796F"}) is None


def test_an_opened_dashboard_has_the_colours_and_other_answers_stay(monkeypatch):
    app = Flask(__name__)
    app.config["EXTRA_CATEGORICAL_COLOR_SCHEMES"] = [{"id": "tailrace", "colors": PALETTE}]
    app.after_request(colours.name_colours)
    monkeypatch.setattr(colours, "_servers", lambda: ["shop-db-1"])
    answer = {"result": {"json_metadata": json.dumps({"color_scheme": "tailrace"})}, "id": 1}
    app.add_url_rule("/opened", colours.OPENED, lambda: answer)
    app.add_url_rule("/other", "other", lambda: answer)

    opened = app.test_client().get("/opened").json
    assert json.loads(opened["result"]["json_metadata"])["label_colors"].keys() == {"shop-db-1"}
    assert opened["id"] == 1
    assert app.test_client().get("/other").json == answer


def test_of_thousands_of_servers_a_dashboard_names_some(monkeypatch):
    names = [f"db-{number:05}" for number in range(10_000)]
    app = Flask(__name__)
    app.config["EXTRA_CATEGORICAL_COLOR_SCHEMES"] = [{"id": "tailrace", "colors": PALETTE}]
    app.after_request(colours.name_colours)
    monkeypatch.setattr(colours, "_servers", lambda: names)
    answer = {"result": {"json_metadata": json.dumps({"color_scheme": "tailrace"})}}
    app.add_url_rule("/opened", colours.OPENED, lambda: answer)
    opened = app.test_client().get("/opened").json
    assert [*json.loads(opened["result"]["json_metadata"])["label_colors"]] == names[: colours.MOST]
