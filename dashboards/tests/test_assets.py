"""Static checks of dashboards/: valid files, resolved names, no unused definitions."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from loaded_assets import ASSETS, COMPILED, charts_of, dataset_of, deprecated, filtered_in_sql, names, of_kind

from tailrace.alerts import link as alert_link
from tailrace.clickhouse import query_files
from tailrace.config.resources import PYTHON_PATH, REPOSITORY
from tailrace.dashboards import asset_files, layout
from tailrace.dashboards import assets as dashboard_assets
from tailrace.dashboards.asset import Asset, asset_uuid
from tailrace.dashboards.asset_files import AssetError
from tailrace.dashboards.compiler import Compiler
from tailrace.reports import superset_reports

COLUMN_PARAMETERS = ("x_axis", "start_time", "end_time", "y_axis", "series", "source", "target")
COLUMN_LISTS = ("groupby", "groupbyRows", "groupbyColumns", "all_columns", "tooltip_columns")
METRIC_PARAMETERS = ("metric", "timeseries_limit_metric")
METRIC_LISTS = ("metrics", "tooltip_metrics")


def listed(columns: str | list[str]) -> list[str]:
    """Returns a list also for heat maps, which have one column instead of several."""
    return [columns] if isinstance(columns, str) else columns


def columns_shown(chart: Asset) -> set[str]:
    params = chart.content["params"]
    lists = {column for key in COLUMN_LISTS for column in listed(params.get(key, []))}
    return lists | {params[key] for key in COLUMN_PARAMETERS if key in params}


def columns_asked(chart: Asset) -> set[str]:
    filtered = {each["subject"] for each in chart.content["params"].get("adhoc_filters", [])}
    return columns_shown(chart) | filtered


def metrics_asked(chart: Asset) -> set[str]:
    params = chart.content["params"]
    single = {params[key] for key in METRIC_PARAMETERS if key in params}
    single |= {each["change"] for each in chart.content.get("numbers", []) if "change" in each}
    return single | {metric for key in METRIC_LISTS for metric in params.get(key, [])}


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_the_address_of_a_dashboard_is_its_name(dashboard):
    assert dashboard.content["slug"] == dashboard.name.replace("_", "-")
    assert dashboard.content["roles"], "somebody sees it"


def test_links_of_alerts_name_filters_that_there_are():
    filters = COMPILED["dashboards/alerts.yaml"]["metadata"]["native_filter_configuration"]
    columns = {each["id"]: each["targets"][0].get("column", {}).get("name") for each in filters}
    for field in alert_link.FILTERS:
        assert columns[f"NATIVE_FILTER-{field}"] == field
    assert columns["NATIVE_FILTER-rule"] == "rule_title"
    assert columns["NATIVE_FILTER-time-range"] is None


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_a_dashboard_is_described_with_a_picture(dashboard):
    slug, title = dashboard.content["slug"], dashboard.content["dashboard_title"]
    pages = (REPOSITORY / "docs" / "DASHBOARDS.md").read_text()
    assert f"### {title}\n" in pages, "docs/DASHBOARDS.md has no section of this dashboard"
    assert f"![{title}](images/{slug}.png)" in pages, "docs/DASHBOARDS.md shows no picture of this dashboard"
    picture = REPOSITORY / "docs" / "images" / f"{slug}.png"
    assert picture.exists(), f"run `make demo`, then `make screenshots ONLY={slug}`"


def test_uuids_never_change():
    # A changed uuid would create a second copy of the asset in every Superset that has the first.
    assert asset_uuid("dashboards", "slow_queries") == "a7150ff5-eb28-5fdf-b2d0-80f0688ac5a3"
    assert len({content["uuid"] for content in COMPILED.values()}) == len(COMPILED)


@pytest.mark.parametrize("chart", of_kind("charts"), ids=names(of_kind("charts")))
def test_chart_asks_for_what_its_dataset_has(chart):
    dataset = dataset_of(chart).content
    missing = columns_asked(chart) - {column["column_name"] for column in dataset["columns"]}
    assert not missing, f"{chart.file} uses columns that datasets/{chart.content['dataset']}.yaml lacks"
    missing = metrics_asked(chart) - {metric["metric_name"] for metric in dataset["metrics"]}
    assert not missing, f"{chart.file} uses metrics that datasets/{chart.content['dataset']}.yaml lacks"


@pytest.mark.parametrize("dataset", of_kind("datasets"), ids=names(of_kind("datasets")))
def test_query_returns_the_columns_of_its_dataset(dataset):
    sql = query_files.query_text(query_files.QUERIES / dataset.content["sql"])
    for column in dataset.content["columns"]:
        name = column["column_name"]
        assert re.search(rf"\b{name}\b", sql), f"{dataset.content['sql']} returns no {name} of {dataset.file}"


FOR_SAVED_CHARTS = {"trace_calls": {"database_seconds", "failures", "share"}}
"""Metrics of charts that users saved, by dataset: no chart of Tailrace shows them any more."""


def test_every_metric_is_shown():
    for dataset in of_kind("datasets"):
        charts = [chart for chart in of_kind("charts") if chart.content["dataset"] == dataset.name]
        shown = {metric for chart in charts for metric in metrics_asked(chart)}
        defined = {metric["metric_name"] for metric in dataset.content["metrics"]}
        defined -= deprecated(dataset).keys() | FOR_SAVED_CHARTS.get(dataset.name, set())
        assert defined == shown, f"{dataset.file}: show each metric in a chart, or delete it"


def test_every_chart_is_on_a_dashboard():
    placed = {name for dashboard in of_kind("dashboards") for name in layout.charts(dashboard.content)}
    assert placed == set(names(of_kind("charts"))), (
        "place each file of dashboards/charts in a row of a dashboard (dashboards/dashboards), or delete it"
    )


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_who_sees_a_dashboard_sees_what_it_links_to(dashboard):
    seen_by = {asset.content["slug"]: set(asset.content["roles"]) for asset in of_kind("dashboards")}
    for target in linked_from(dashboard):
        # The role for unmasked samples is granted in addition to another one.
        closed = set(dashboard.content["roles"]) - seen_by[target] - {"unmasked"}
        assert not closed or target == "samples", (
            f"{dashboard.file} links to {target}, which the role {', '.join(sorted(closed))} cannot open"
        )


def linked_from(dashboard: Asset) -> set[str]:
    """Returns the slugs of the dashboards to which texts and tables of a dashboard link."""
    texts = " ".join(cell.get("markdown", "") for cell in layout.cells(dashboard.content))
    found = set(re.findall(r"/superset/dashboard/([a-z-]+)/", texts))
    for chart in charts_of(dashboard):
        dataset = dataset_of(chart).content
        sql = (query_files.QUERIES / dataset["sql"]).read_text()
        sql += " ".join(metric["expression"] for metric in dataset["metrics"])
        found |= {LINKS[macro] for macro in re.findall(r"\{\{ *(link_to_\w+)\(", sql)}
        found |= set(re.findall(r"\{\{ *link(?:_by|_around|_within|ed_\w+)?\('([a-z-]+)'", sql))
    return found


LINKS = dict(
    re.findall(
        r"macro (link_to_\w+)\([^)]*\) -%\}[^']*'([a-z-]+)'",
        (query_files.QUERIES / "parts" / "links.sql").read_text(),
    )
)
"""Macro → slug of the linked dashboard."""


def test_every_report_is_a_dashboard_that_its_audience_sees():
    seen_by = {asset.name: asset.content["roles"] for asset in of_kind("dashboards")}
    for report in superset_reports.definitions().values():
        assert report.audience in seen_by[report.dashboard], report.name


def test_every_query_is_asked():
    asked_by_charts = {Path(dataset.content["sql"]).stem for dataset in of_kind("datasets")}
    files = [
        file
        for package in ("tailrace", "tailrace_local", "superset/tailrace_pages")
        for kind in ("py", "yaml")
        for file in (PYTHON_PATH / package).rglob(f"*.{kind}")
    ]
    commands = "".join(file.read_text() for file in files)
    for query in query_files.QUERIES.glob("*.sql"):
        name = query.stem.removeprefix("ledger_").removeprefix("evidence_")
        asked = query.stem in asked_by_charts or name in commands
        assert asked, f"sql/queries/{query.name} is used by no dataset, command or page: delete it"


def test_every_dataset_is_drawn_or_fills_a_filter():
    drawn = {chart.content["dataset"] for chart in of_kind("charts")}
    filters = [each for dashboard in of_kind("dashboards") for each in dashboard.content.get("filters", [])]
    used = drawn | {each["dataset"] for each in filters if "dataset" in each}
    assert used == set(names(of_kind("datasets"))), "use each dataset in a chart or a filter, or delete it"


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_rows_fill_the_grid(dashboard):
    for row in layout.rows(dashboard.content):
        widths = [cell["width"] for cell in row]
        where = f"{dashboard.file}: the row of {', '.join(cell.get('chart', 'markdown') for cell in row)}"
        assert sum(widths) == layout.GRID_COLUMNS, f"{where}: widths that add up to {layout.GRID_COLUMNS}"
        assert len({cell["height"] for cell in row}) == 1, f"{where}: one height for all cells"


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_titles_of_a_dashboard_are_unique_and_its_empty_charts_have_texts(dashboard):
    charts = charts_of(dashboard)
    titles = [title for chart in charts for title in titles_of(chart)]
    assert len(titles) == len(set(titles)), f"{dashboard.file}: two charts or numbers have one title"
    style = COMPILED[dashboard.file]["css"]
    for chart in charts:
        for text in chart.content.get("when_empty", {}).values():
            assert f"content: {json.dumps(text, ensure_ascii=False)};" in style


def titles_of(chart: Asset) -> list[str]:
    return [chart.content["slice_name"], *(number["title"] for number in chart.content.get("numbers", []))]


def test_numbers_must_be_whole(tmp_path: Path):
    with_defaults(tmp_path)
    file = tmp_path / "charts" / "some.yaml"
    whole = {"title": "T", "metric": "m", "format": ",d", "subtitle": "s", "description": "d"}
    for name, numbers in (
        ("Some summary", [whole, {**whole, "subtitel": "s"}]),
        ("Some summary", [whole, {**whole, "title": 7}]),
        ("Some summary", whole),
        ("Some", [whole, whole]),
    ):
        file.write_text(yaml.safe_dump({"slice_name": name, "dataset": "load", "numbers": numbers}))
        with pytest.raises(AssetError, match=r"charts/some\.yaml: "):
            asset_files.load(tmp_path)


def with_defaults(directory: Path) -> None:
    (directory / "charts").mkdir()
    shutil.copy(asset_files.DIRECTORY / "defaults.yaml", directory)


FILTERS = [
    (name, each)
    for name, asset in COMPILED.items()
    if name.startswith("dashboards/")
    for each in asset["metadata"]["native_filter_configuration"]
    if each["filterType"] == "filter_select"
]
ONE_VALUE = {"NATIVE_FILTER-query-id": "query_statement", "NATIVE_FILTER-connection_id": "sessions"}
"""Filters with one value, each with a query that accepts any value: Superset offers the typed text."""


@pytest.mark.parametrize(("name", "each"), FILTERS, ids=[f"{name}-{each['id']}" for name, each in FILTERS])
def test_a_part_of_a_value_is_not_offered_as_a_value(name, each):
    controls = each["controlValues"]
    assert controls["creatable"] is False and controls["searchAllOptions"] is True
    assert controls["multiSelect"] or each["id"] in ONE_VALUE, f"{name}: what is typed would be a value"


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_the_filter_of_instances_follows_that_of_clusters(dashboard):
    filters = {each["name"]: each for each in dashboard.content["filters"]}
    metadata = COMPILED[dashboard.file]["metadata"]["native_filter_configuration"]
    parents = {each["name"]: each["cascadeParentIds"] for each in metadata if each["cascadeParentIds"]}
    if not {"Cluster", "Instance"} <= filters.keys():
        assert not parents, "a parent that is not on the dashboard would never have a value"
        assert not any("chosen clusters" in each["description"] for each in metadata)
        return
    assert parents == {"Instance": ["NATIVE_FILTER-cluster"]}
    described = next(each["description"] for each in metadata if each["name"] == "Instance")
    assert described == "Offers instances of the chosen clusters; clear it after changing Cluster"
    # Superset ignores the parent if the values are those of a dataset without its column.
    offered = next(each for each in of_kind("datasets") if each.name == filters["Instance"]["dataset"])
    assert filters["Cluster"]["column"] in {column["column_name"] for column in offered.content["columns"]}


NOT_FILTERED = {
    "a row is about a whole server": {
        ("access_flow", "data_limits_security"): {
            *("user", "src_ip", "program", "database", "data_class", "access"),
        },
        ("accounts", "data_limits_audit"): {"user", "state"},
        ("alerts", "data_limits_security"): {
            *("status", "level", "rule_title", "user", "src_ip", "database", "program"),
        },
        ("coverage", "coverage_servers"): {"source"},
        ("data_access", "data_limits_audit"): {
            *("data_class", "access", "user", "src_ip", "database", "program"),
        },
        ("errors", "data_limits"): {"what", "user", "connection_id"},
        ("failed_access", "data_limits_audit"): {"user", "src_ip", "database", "program", "reason"},
        **{
            ("innodb", each): {"database", "user", "query_id"}
            for each in ("data_limits", "innodb_messages", "innodb_written", "metadata_lock_polls")
        },
        ("logins", "data_limits_security"): {"user", "src_ip", "network", "outcome"},
        ("plans", "data_limits"): {"query_id", "plan_hash"},
        ("privileged_activity", "data_limits_audit"): {"kind", "user", "program"},
        ("query_detail", "data_limits"): {"query_id"},
        ("slow_queries", "data_limits"): {"database", "user", "query_id"},
        ("slow_queries", "logging_by_server"): {"database", "user", "query_id"},
        ("slow_queries", "logging_stretches"): {"database", "user", "query_id"},
    },
    "a row is about all servers": {
        ("coverage", "coverage_exports"): {"cluster", "instance", "source"},
        ("coverage", "coverage_looks"): {"cluster", "instance", "source"},
        ("coverage", "coverage_reviews"): {"cluster", "instance", "source"},
        ("coverage", "coverage_unreviewed"): {"cluster", "instance", "source"},
        ("rule_coverage", "rule_pushes"): {"cluster", "instance", "rule_title", "fires"},
    },
    "the rows have no such property": {
        ("accounts", "accounts_changes"): {"state"},
        ("accounts", "accounts_looks"): {"cluster", "user", "state"},
        ("accounts", "accounts_use"): {"state"},
        ("alerts", "alerts_actions_of_entity"): {"level", "rule_title", "program"},
        ("coverage", "coverage_retention"): {"source"},
        **{("errors", each): {"what"} for each in ("connection_statements", "failed_statements")},
        ("innodb", "metadata_lock_waits"): {"query_id"},
        ("rule_coverage", "rule_server_logs"): {"rule_title", "fires"},
    },
    "the rows have one value, several, or all values": {
        ("alerts", "alerts_timeline"): {"status"},
        ("errors", "deadlocks"): {"what"},
        ("logins", "login_guesses"): {"outcome"},
        ("logins", "logins_first_seen"): {"outcome"},
        ("plans", "plan_changes"): {"plan_hash"},
        ("rule_coverage", "alerts_timeline"): {"fires"},
    },
    "queries of the evidence name servers without their cluster": {
        ("coverage", "coverage_retention"): {"cluster"},
        ("coverage", "coverage_servers"): {"cluster"},
    },
}
"""Reason → dashboard and dataset → columns of filters that Superset ignores for charts of that dataset."""


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_a_filter_applies_to_every_chart_of_its_dashboard(dashboard):
    """Superset ignores a filter whose column the dataset lacks, without a message."""
    metadata = COMPILED[dashboard.file]["metadata"]["native_filter_configuration"]
    filters = {each["targets"][0]["column"]["name"] for each in metadata if each["targets"][0]}
    for dataset in {chart.content["dataset"]: dataset_of(chart) for chart in charts_of(dashboard)}.values():
        columns = {column["column_name"] for column in dataset.content["columns"]}
        excused = [each.get((dashboard.name, dataset.name), set()) for each in NOT_FILTERED.values()]
        assert filters - columns - filtered_in_sql(dataset) == set().union(*excused), (
            f"{dataset.file}: add a column for each filter of the dashboard, or name the filters that do not "
            "apply in NOT_FILTERED of this module"
        )


def test_an_excused_dataset_is_on_the_dashboard():
    shown = {
        (each.name, chart.content["dataset"]) for each in of_kind("dashboards") for chart in charts_of(each)
    }
    assert not {pair for pairs in NOT_FILTERED.values() for pair in pairs} - shown, (
        "delete these pairs of dashboard and dataset from NOT_FILTERED of this module"
    )


LISTS_OF_ALERTS = ("alerts_list", "alerts_done", "session_alerts")


@pytest.mark.parametrize("name", LISTS_OF_ALERTS)
def test_alerts_are_sorted_by_severity_and_dated_by_their_events(name):
    params = next(chart for chart in of_kind("charts") if chart.name == name).content["params"]
    assert [json.loads(each)[0] for each in params["order_by_cols"]][:2] == ["level_rank", "event_time"]
    times = [column for column in params["all_columns"] if column.endswith(("_time", "_at"))]
    assert times[0] == "event_time"


AVERAGED = re.compile(r"\bavg\(|quantile(?!ExactWeighted)")


def test_the_shared_percentiles_are_never_averaged():
    assert not AVERAGED.search((query_files.QUERIES / "parts" / "percentile.sql").read_text())


@pytest.mark.parametrize("dataset", of_kind("datasets"), ids=names(of_kind("datasets")))
def test_percentiles_are_never_averaged(dataset):
    for metric in dataset.content["metrics"]:
        assert not AVERAGED.search(metric["expression"]), (
            f"{dataset.file}: {metric['metric_name']} averages percentiles: use parts/percentile.sql"
        )


def test_equal_assets_make_equal_bundles():
    assert dashboard_assets.bundle(COMPILED) == dashboard_assets.bundle(dashboard_assets.compile_assets())


def test_problems_name_file_and_key(tmp_path: Path):
    with_defaults(tmp_path)
    (tmp_path / "charts" / "broken.yaml").write_text("slice_name: 7\nviz_typ: table\n")
    with pytest.raises(AssetError) as raised:
        asset_files.load(tmp_path)
    assert "charts/broken.yaml: `slice_name` must be str, found int" in str(raised.value)
    assert "charts/broken.yaml: unknown key `viz_typ`" in str(raised.value)


def test_dangling_names_are_refused():
    chart = of_kind("charts")[0]
    with pytest.raises(AssetError, match=f"charts/{chart.name}.yaml: refers to datasets/"):
        Compiler([chart], query_files.QUERIES, "").compile()


def test_yaml_is_read_as_it_was_meant():
    # YAML does not read `on`, `no` and unquoted times as text.
    for asset in ASSETS:
        written = yaml.dump(asset.content, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
        assert yaml.load(written, asset_files.YAML_LOADER) == asset.content


@pytest.mark.parametrize("dataset", of_kind("datasets"), ids=names(of_kind("datasets")))
def test_labels_are_texts(dataset):
    # Superset refuses other types, and YAML does not read On and No as text.
    for labelled in (*dataset.content["columns"], *dataset.content["metrics"]):
        assert isinstance(labelled.get("verbose_name", ""), str), labelled
        # A comma in an unquoted text between braces begins another key.
        assert None not in labelled.values(), labelled
