"""Static checks of the tabs of dashboards: what the first view contains, and the addresses of tabs."""

import re

import pytest
from loaded_assets import COMPILED, charts_named, names, of_kind

from tailrace.config.resources import REPOSITORY
from tailrace.dashboards import changes, layout
from tailrace.dashboards.asset import Asset
from tailrace.dashboards.asset_files import AssetError, load
from tailrace.reports import superset_reports

MAX_CHARTS, MAX_NUMBERS, MAX_PIXELS = 6, 5, 1100

REPORTS = {report.dashboard for report in superset_reports.definitions().values()}
"""Dashboards that are sent as one picture: they have no tabs, because a mail cannot open one."""

DASHBOARDS = [each for each in of_kind("dashboards") if each.name not in REPORTS]


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=names(DASHBOARDS))
def test_the_first_view_is_small(dashboard):
    first = layout.tabs(dashboard.content)[0]
    file, move = dashboard.file, "move a chart to another tab"
    numbers = sum(map(numbers_of, charts_named(first.charts)))
    charts = [chart for chart in charts_named(first.charts) if not is_limits(chart)]
    assert len(charts) <= MAX_CHARTS, f"{file}: the first tab has at most {MAX_CHARTS} charts: {move}"
    assert first.pixels <= MAX_PIXELS, f"{file}: the first tab has at most {MAX_PIXELS} pixels: {move}"
    assert numbers <= MAX_NUMBERS, f"{file}: the first tab has at most {MAX_NUMBERS} numbers: {move}"


def numbers_of(chart: Asset) -> int:
    if chart.content["viz_type"] == "big_number_total":
        return 1
    return 0 if is_limits(chart) else len(chart.content.get("numbers", []))


def is_limits(chart: Asset) -> bool:
    """Returns whether a chart is the line *Data limits* of a dashboard."""
    return chart.content["slice_name"] == "Data limits summary"


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=names(DASHBOARDS))
def test_the_first_view_shows_changes_and_data_limits(dashboard):
    charts = charts_named(layout.tabs(dashboard.content)[0].charts)
    compared = any(changes.has_changes(chart.content) for chart in charts)
    assert compared or dashboard.name in NOT_COMPARED, (
        f"{dashboard.file}: a number of the first tab needs `change`, or add it to NOT_COMPARED"
    )
    assert dashboard.name in WITHOUT_LIMITS or len(list(filter(is_limits, charts))) == 1, (
        f"{dashboard.file}: the first tab needs one chart with the title Data limits summary"
    )


def panels_with_changes() -> list[tuple[str, str, float]]:
    """Returns dashboard, chart and the pixels of each of its numbers, in a window of 1,440 pixels."""
    rows = [(each.name, row) for each in DASHBOARDS for tab in layout.tabs(each.content) for row in tab.rows]
    placed = [(name, panel) for name, row in rows for panel in row if "chart" in panel]
    charts = {chart.name: chart.content for chart in of_kind("charts")}
    return [
        (
            name,
            panel["chart"],
            (panel["width"] * COLUMN_PIXELS - PADDING) / len(charts[panel["chart"]]["numbers"]),
        )
        for name, panel in placed
        if changes.has_changes(charts[panel["chart"]])
    ]


def test_a_change_and_what_is_unknown_of_it_fit_below_a_number():
    """Without its last words, such as "coverage unknown", a change would read as known."""
    cut = [each for each in panels_with_changes() if each[2] < LEAST_PIXELS]
    assert panels_with_changes() and not cut, f"wider panels, or fewer numbers: {cut}"


COLUMN_PIXELS, PADDING = 92, 32
"""Of a column of the grid beside the filter bar, in a window of 1,440 pixels; of a panel on both sides."""
LEAST_PIXELS = 170
""""+361 % against the previous" in one line, so that the whole text has three."""

NOT_COMPARED = {"samples", "session"}
"""Dashboards of single statements and of one session, which have no period before."""

WITHOUT_LIMITS = {*NOT_COMPARED, "books", "coverage", "rule_coverage", "traces"}
"""The rest are the details of data limits, and traces, which come from applications."""


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=names(DASHBOARDS))
def test_explanations_and_data_limits_are_behind_the_first_view(dashboard):
    first, *others = layout.tabs(dashboard.content)
    assert others[-1].title == "About" and not others[-1].charts, "the last tab is About, without charts"
    lines = [cell["markdown"] for row in first.rows for cell in row if "markdown" in cell]
    assert len(lines) <= 1 and all(len(line) < 200 for line in lines), "one line of introduction"


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=names(DASHBOARDS))
def test_titles_of_tabs_are_short_and_distinct(dashboard):
    found = layout.tabs(dashboard.content)
    assert all(len(tab.title) <= 36 for tab in found), "titles of tabs have at most 36 characters"
    assert len({tab.node_id for tab in found}) == len(found), "titles of tabs differ in more than punctuation"


def test_a_report_is_one_page():
    for dashboard in of_kind("dashboards"):
        is_page, is_sent = "layout" in dashboard.content, dashboard.name in REPORTS
        assert is_page == is_sent, f"{dashboard.file}: `layout` if dashboards/reports sends it, else `tabs`"


def test_tabs_are_nodes_between_the_root_and_their_rows():
    position = COMPILED["dashboards/slow_queries.yaml"]["position"]
    assert position["ROOT_ID"]["children"] == ["GRID_ID"]
    assert position["GRID_ID"]["children"] == ["TABS-slow-queries"]
    first = position[position["TABS-slow-queries"]["children"][0]]
    assert first["meta"]["text"] == "What takes the most time?"
    row = position[first["children"][0]]
    assert row["parents"] == ["ROOT_ID", "GRID_ID", "TABS-slow-queries", first["id"]]
    assert position[row["children"][0]]["parents"] == [*row["parents"], row["id"]]
    placed = [name for tab in position["TABS-slow-queries"]["children"] for name in position[tab]["children"]]
    assert len(placed) == len(set(placed)) == len(layout.rows(source("slow_queries").content))


def source(name: str) -> Asset:
    return next(each for each in of_kind("dashboards") if each.name == name)


@pytest.mark.parametrize(
    "content",
    ["", "tabs: [], layout: []", "tabs: [{title: A}]", "layout: 3"],
    ids=["none", "both", "no rows", "type"],
)
def test_a_dashboard_has_either_tabs_or_rows(tmp_path, content):
    (tmp_path / "dashboards").mkdir()
    (tmp_path / "defaults.yaml").write_text((REPOSITORY / "dashboards" / "defaults.yaml").read_text())
    (tmp_path / "dashboards" / "some.yaml").write_text(f"{{{content}}}")
    with pytest.raises(AssetError, match=r"dashboards/some\.yaml: .*tabs"):
        load(tmp_path)


LINKED_TAB = re.compile(r"link(?:ed)?(?:_\w+)?\('([a-z-]+)'(?:(?!link)[\s\S])*?'(TAB-[^']+)'")
TAB_ADDRESS = re.compile(r"/superset/dashboard/([a-z-]+)/[^\"'#\s]*#(TAB-[a-z-]+)")


def test_links_open_tabs_that_exist():
    known = {
        (each.content["slug"], tab.node_id)
        for each in of_kind("dashboards")
        for tab in layout.tabs(each.content)
    }
    linked = set()
    for file in (REPOSITORY / "sql" / "queries").rglob("*.sql"):
        text = file.read_text()
        linked |= {*LINKED_TAB.findall(text), *TAB_ADDRESS.findall(text)}
    for dataset in of_kind("datasets"):
        for metric in dataset.content["metrics"]:
            linked |= set(LINKED_TAB.findall(metric["expression"]))
    for dashboard in of_kind("dashboards"):
        for cell in layout.cells(dashboard.content):
            linked |= set(TAB_ADDRESS.findall(cell.get("markdown", "")))
    assert len(linked) >= 2
    assert linked <= known, "a link leads to a tab that does not exist: its id is TAB-, slug and title"
