"""Static checks of charts: titles, axes, units, colours, sizes and search boxes."""

import json
import re
from dataclasses import replace

import pytest
import tailrace_chart_labels
from loaded_assets import ASSETS, COMPILED, OVER_TIME, charts_of, dataset_of, names, of_kind
from test_assets import (
    COLUMN_LISTS,
    COLUMN_PARAMETERS,
    METRIC_LISTS,
    METRIC_PARAMETERS,
    columns_shown,
    metrics_asked,
)
from test_contrast import PALETTE

from tailrace.clickhouse.query_files import QUERIES
from tailrace.config.resources import REPOSITORY
from tailrace.dashboards import layout
from tailrace.dashboards.asset_files import AssetError
from tailrace.dashboards.compiler import Compiler
from tailrace_pages import formats

TABLE_FRAME_PIXELS, TABLE_ROW_PIXELS = 222, 29
"""Height of a table without rows (title, search, header, pages, scroll bar), and of each row."""


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_a_page_of_a_table_fits_its_panel(dashboard):
    for cell in (cell for cell in layout.cells(dashboard.content) if "chart" in cell):
        params = next(chart for chart in of_kind("charts") if chart.name == cell["chart"]).content["params"]
        if params.get("server_pagination"):
            least = TABLE_FRAME_PIXELS + TABLE_ROW_PIXELS * params["server_page_length"]
            fitting = -(-least // 8)
            assert cell["height"] >= fitting, (
                f"{dashboard.file}: the page of {cell['chart']} needs a height of {fitting} or fewer rows"
            )


PIVOT_FRAME_PIXELS, PIVOT_ROW_PIXELS, PIVOT_ROWS = 190, 26, 10
"""Height of a pivot table without rows, height of each row, and number of visible rows."""


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_a_pivot_table_shows_ten_rows(dashboard):
    for cell in (cell for cell in layout.cells(dashboard.content) if "chart" in cell):
        chart = next(chart for chart in of_kind("charts") if chart.name == cell["chart"])
        if chart.content["viz_type"] == "pivot_table_v2":
            fitting = -(-(PIVOT_FRAME_PIXELS + PIVOT_ROWS * PIVOT_ROW_PIXELS) // 8)
            assert cell["height"] >= fitting, f"{dashboard.file}: {cell['chart']} needs a height of {fitting}"


@pytest.mark.parametrize("chart", of_kind("charts"), ids=names(of_kind("charts")))
def test_a_chart_has_a_title_a_description_and_texts_for_no_rows(chart):
    assert chart.content["slice_name"].strip() and chart.content["description"].strip(), chart.file
    if chart.content["viz_type"] == "big_number_total" or chart in NUMBERS:  # 0 or N/A, no text of Superset's
        assert "when_empty" not in chart.content, f"{chart.file}: numbers have no `when_empty`"
    else:
        texts = chart.content.get("when_empty", {})
        wanted = "add `when_empty` with `means` and `next` of at least ten characters, here or to the dataset"
        assert texts.keys() == {"means", "next"}, f"{chart.file}: {wanted}"
        assert all(isinstance(text, str) and len(text) >= 10 for text in texts.values()), (
            f"{chart.file}: {wanted}"
        )


NUMBERS = [chart for chart in of_kind("charts") if "numbers" in chart.content]


@pytest.mark.parametrize("chart", NUMBERS, ids=names(NUMBERS))
def test_numbers_of_one_chart_are_distinct_and_described(chart):
    numbers = chart.content["numbers"]
    if not all(number["metric"].startswith("linked_") for number in numbers):
        assert len(numbers) >= 2, "a single one is a big_number_total, which cannot be a link"
    assert len({number["metric"] for number in numbers}) == len(numbers), "Superset asks for a metric once"
    metrics = {metric["metric_name"] for metric in dataset_of(chart).content["metrics"]}
    styles = [COMPILED[each.file]["css"] for each in of_kind("dashboards") if chart in charts_of(each)]
    for number in numbers:
        assert number["metric"] in metrics
        assert f"{number['title']}: {number['description']}" in COMPILED[chart.file]["description"]
        for text in (number["title"], number["subtitle"]):
            assert all(f"content: {json.dumps(text, ensure_ascii=False)};" in style for style in styles)


RAW_NAME = re.compile(r"[a-z]+(_[a-z0-9]+)*")
"""The name of a column or a metric in a query, such as `data_class`; p99 is a title, too."""


@pytest.mark.parametrize("chart", of_kind("charts"), ids=names(of_kind("charts")))
def test_columns_and_metrics_are_shown_with_titles(chart):
    dataset = dataset_of(chart).content
    titles = {each["column_name"]: each.get("verbose_name", "") for each in dataset["columns"]}
    titles |= {each["metric_name"]: each.get("verbose_name", "") for each in dataset["metrics"]}
    shown = columns_shown(chart) | metrics_asked(chart)
    # test_chart_asks_for_what_its_dataset_has reports the other names.
    raw = {name for name in shown & titles.keys() if not titles[name] or RAW_NAME.fullmatch(titles[name])}
    assert not raw, f"datasets/{chart.content['dataset']}.yaml: `verbose_name`, a title with a capital letter"


@pytest.mark.parametrize("chart", of_kind("charts"), ids=names(of_kind("charts")))
def test_browsers_receive_the_titles_of_columns_and_metrics(chart):
    """Superset sends titles only of what it finds in the parameters that it knows."""
    known = {"all_columns", "groupby", "series", "metric", "metrics", "timeseries_limit_metric"}
    known |= {*tailrace_chart_labels.COLUMNS, *tailrace_chart_labels.METRICS}
    keys = (*COLUMN_PARAMETERS, *COLUMN_LISTS, *METRIC_PARAMETERS, *METRIC_LISTS)
    missing = {key for key in keys if key in chart.content["params"]} - known
    assert not missing, "add it to embedded/superset/tailrace_chart_labels.py"


AGGREGATES = [
    chart
    for chart in of_kind("charts")
    if metrics_asked(chart)
    and chart.content["viz_type"] not in ("big_number_total", "gantt_chart", "tree_chart")
    and chart not in NUMBERS
    and chart.name != "session_who"  # its metrics are times and lists
]
QUANTITY_AND_UNIT = re.compile(
    r"Number of |Average rows |minutes|[Bb]ytes|\((s|%|query seconds per second|seconds per second)\)"
)
"""A count or its rate has its unit in the words after *Number of*; others name the unit itself."""


@pytest.mark.parametrize("chart", AGGREGATES, ids=names(AGGREGATES))
def test_titles_name_the_quantity_with_its_unit(chart):
    title = chart.content["slice_name"]
    assert QUANTITY_AND_UNIT.search(title), (
        f"{chart.file}: '{title}' names no quantity with its unit: begin the title of a count "
        "or of its rate with *Number of*, and add the unit of another quantity, such as (s) or (%). "
        f"A new unit belongs to QUANTITY_AND_UNIT: {QUANTITY_AND_UNIT.pattern}"
    )


def _short_texts(chart) -> list[str]:
    """The title of a chart, and the titles and subtitles of its numbers."""
    numbers = chart.content.get("numbers", [])
    texts = [chart.content["slice_name"], chart.content["params"].get("subtitle", "")]
    return texts + [each.get(key, "") for each in numbers for key in ("title", "subtitle")]


def test_the_number_of_a_requirement_has_the_name_of_its_standard():
    """10.2.1.4 alone looks like an address."""
    texts = [text for chart in of_kind("charts") for text in _short_texts(chart)]
    assert [text for text in texts if re.search(r"PCI DSS \d", text)]
    assert [text for text in texts if re.search(r"(?<!PCI DSS )(?<![\d.])\d+\.\d+\.\d", text)] == []


def test_what_is_counted_as_out_of_hours_is_beside_its_number():
    hours = re.findall(r"toHour\(.*?\) [>=<]+ (\d+)", (QUERIES / "parts" / "working_hours.sql").read_text())
    stated = f"not Mon-Fri {hours[0]}-{hours[1]} UTC"
    for chart in of_kind("charts"):
        numbers = [
            *chart.content.get("numbers", []),
            {"title": chart.content["slice_name"], **chart.content["params"]},
        ]
        shown = [f"{each['title']} {each.get('subtitle', '')}" for each in numbers]
        if chart.content["viz_type"] == "table" and chart not in NUMBERS:
            titles = {
                each["metric_name"]: each["verbose_name"] for each in dataset_of(chart).content["metrics"]
            }
            shown += [titles[metric] for metric in chart.content["params"].get("metrics", [])]
        for text in shown:
            assert "out of hours" not in text.lower() or stated in text, f"{chart.file}: {text}"


def test_styles_name_existing_charts():
    """A renamed chart would lose its styles silently."""
    style = (REPOSITORY / "dashboards" / "style.css").read_text()
    styled = re.findall(r'data-test-chart-name="([^"]+)"', style)
    assert styled and {*styled} <= {chart.content["slice_name"] for chart in of_kind("charts")}


SPACES = "\u200b\u2002"


@pytest.mark.parametrize("chart", OVER_TIME, ids=names(OVER_TIME))
def test_axes_have_titles_and_units(chart):
    params = chart.content["params"]
    assert params["x_axis_title"] == "Time (UTC)", chart.file
    title = params.get("y_axis_title", "")
    assert title.strip(), f"{chart.file}: `y_axis_title` is what is counted or measured"
    assert params["y_axis_format"], f"{chart.file}: `d3format` of its metric gives the numbers their unit"
    # Labels do not overlap, and an axis of counts has no mark between two integers.
    assert "showMaxLabel: false, hideOverlap: true" in params["echart_options"]
    assert "grid: { right: 34 }" in params["echart_options"], "half a label beside the last mark"
    # hideOverlap hides no label that touches another: spaces keep them apart. Superset drops a padding.
    label = params["x_axis_time_format"]
    assert len(label) <= len("%H:%M:%S") or label == f"\u200b\u2002{label.strip(SPACES)}\u2002\u200b"
    assert params["y_axis_format"] != ",d" or "minInterval: 1 " in params["echart_options"]
    # Without a margin Superset draws the title over the numbers.
    assert params["x_axis_title_margin"] >= 25
    assert params["y_axis_title_margin"] >= 40


@pytest.mark.parametrize("chart", OVER_TIME, ids=names(OVER_TIME))
def test_what_is_stacked_is_drawn_as_bars(chart):
    # Lines of stacked areas overlap where the upper ones are 0, so a peak gets the colour of another series.
    is_bar = chart.content["viz_type"] == "echarts_timeseries_bar"
    assert is_bar or not chart.content["params"].get("stack"), (
        f"{chart.file}: `viz_type: echarts_timeseries_bar`, or `without: [stack]`"
    )


@pytest.mark.parametrize("chart", OVER_TIME, ids=names(OVER_TIME))
def test_empty_bars_are_not_counted(chart):
    dataset = dataset_of(chart)
    if "with_empty_buckets" not in (QUERIES / dataset.content["sql"]).read_text():
        return
    expressions = {each["metric_name"]: each["expression"] for each in dataset.content["metrics"]}
    for metric in expressions.keys() & set(chart.content["params"]["metrics"]):
        assert "counted" in expressions[metric], (
            f"{metric} would count the rows of empty bars: write sum(counted) or uniqExactIf(…, counted = 1)"
        )


TABLES = [
    chart for chart in of_kind("charts") if chart.content["viz_type"] == "table" and chart not in NUMBERS
]
PAGED = [chart for chart in TABLES if chart.content["params"].get("page_length") != 0]


@pytest.mark.parametrize("chart", PAGED, ids=names(PAGED))
def test_a_table_with_pages_has_a_search_box(chart):
    assert chart.content["params"].get("include_search") is True, f"{chart.file}: `include_search: true`"


TITLED = [chart for chart in OVER_TIME if "y_axis_title" in chart.content["params"]]
"""test_axes_have_titles_and_units reports the others."""
SECONDS = re.compile(r"\bquery time\b")


@pytest.mark.parametrize("chart", TITLED, ids=names(TITLED))
def test_seconds_and_bytes_are_written_with_their_unit(chart):
    params = chart.content["params"]
    if SECONDS.search(params["y_axis_title"]):
        assert params["y_axis_format"] == "SECONDS", f"{chart.file}: d3format SECONDS of a metric of seconds"
    if "bytes" in params["y_axis_title"]:
        assert params["y_axis_format"].startswith("MEMORY_"), (
            f"{chart.file}: d3format MEMORY_DECIMAL of a metric of bytes"
        )


def test_charts_have_colours_of_the_palette_only():
    coloured = [chart for chart in of_kind("charts") if "color_scheme" in chart.content["params"]]
    assert {chart.content["params"]["color_scheme"] for chart in coloured} == {"tailrace"}
    assert {chart.name for chart in OVER_TIME} <= {chart.name for chart in coloured}
    for dashboard in of_kind("dashboards"):
        metadata = dashboard.content["metadata"]
        assert metadata["color_scheme"] == "tailrace"
        named = {colour.upper() for colour in metadata.get("label_colors", {}).values()}
        assert named <= {*PALETTE}, dashboard.name
    formats = [
        each["colorScheme"]
        for chart in of_kind("charts")
        for each in chart.content["params"].get("conditional_formatting") or []
    ]
    assert {*formats} <= {*PALETTE}
    # In a ramp of one hue the lightness carries the information.
    ramps = {chart.content["params"].get("linear_color_scheme") for chart in of_kind("charts")}
    assert ramps <= {None, "schemeBlues"}


def test_all_dashboards_have_the_same_colours_of_series():
    """A person who follows a link from one to another finds the same colours."""
    compiled = [COMPILED[f"dashboards/{name}.yaml"] for name in names(of_kind("dashboards"))]
    palettes = [each["metadata"]["label_colors"] for each in compiled]
    assert {*formats.LEVELS} <= {*palettes[0]}
    assert all(each == palettes[0] for each in palettes)


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_the_colour_of_a_metric_is_that_of_its_name_not_of_its_title(dashboard):
    """Superset 6.1.0 looks for the colour of a metric under its name, and ignores one under its title."""
    metrics = [each for chart in charts_of(dashboard) for each in dataset_of(chart).content["metrics"]]
    titles = {each.get("verbose_name") for each in metrics} - {each["metric_name"] for each in metrics}
    assert not titles & {*dashboard.content["metadata"].get("label_colors", {})}


def test_a_series_with_two_colours_is_an_error():
    (alerts,) = (each for each in of_kind("dashboards") if each.name == "alerts")
    other = {"metadata": {"label_colors": {"critical": "#1396D7"}}}
    assets = [replace(each, content={**each.content, **other}) if each is alerts else each for each in ASSETS]
    with pytest.raises(AssetError, match="label_colors: 'critical' is #"):
        Compiler(assets, QUERIES, "").compile()


def test_each_record_of_a_change_of_an_account_has_a_colour_of_its_own():
    """Superset gives a series without a colour the next one of the palette, which another series may have."""
    sql = (REPOSITORY / "sql" / "queries" / "accounts_changes.sql").read_text()
    (recorded_by,) = re.findall(r"multiIf\((.*)\) AS recorded_by", sql)
    series = {*re.findall(r", '([^']+)'", recorded_by)}
    (accounts,) = (each for each in of_kind("dashboards") if each.name == "accounts")
    colours = accounts.content["metadata"]["label_colors"]

    assert series == {*colours} and len({*colours.values()}) == len(series)


@pytest.mark.parametrize("chart", of_kind("charts"), ids=names(of_kind("charts")))
def test_times_say_their_zone(chart):
    assert chart.content["params"].get("x_axis_title", "Time (UTC)") == "Time (UTC)"
    for column in dataset_of(chart).content["columns"]:
        if column.get("is_dttm"):
            assert column["verbose_name"].endswith("(UTC)"), (
                f"datasets/{chart.content['dataset']}.yaml: `verbose_name` of {column['column_name']}"
            )
