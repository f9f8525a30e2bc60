"""The tabs that the browser draws in CI. The data of the other charts is requested without drawing them.

Drawn are the first tab of each dashboard, tabs without charts, and as many others as needed to draw each form
of a chart at least once. `make test-long` draws all tabs.
"""

import re
from collections.abc import Iterator

from loaded_assets import charts_named, dataset_of, of_kind

from tailrace.dashboards import layout
from tailrace.dashboards.asset import Asset

FREE = {
    *("all_columns", "groupby", "groupbyRows", "groupbyColumns", "metrics", "order_by_cols", "adhoc_filters"),
    *("column_config", "conditional_formatting", "tooltip_columns", "tooltip_metrics"),
}
"""Parameters whose values are columns, metrics or configurations of them; only their keys are a form."""
NAMED = re.compile("title|metric|^[xy]_axis$|_time$|series$|source$|target$|subtitle|subject|root_node_id")
"""Parameters whose values are names of columns or metrics, or texts."""
LONG = 40
"""Longer values are expressions of one chart."""
MACRO = re.compile(r"\{\{ *(link\w*)\(")


def forms(chart: Asset) -> set[str]:
    """Returns the properties that only drawing tests: chart type, parameters, formats, kinds of links."""
    kind, content = chart.content["viz_type"], chart.content
    found = {f"{kind} {key}" for key in content["params"]} | {f"{kind} {form}" for form in _values(chart)}
    for column in content["params"].get("column_config", {}).values():
        found |= {f"{kind} column {key}={value}" for key, value in column.items() if key != "columnWidth"}
    written = [each["expression"] for each in dataset_of(chart).content["metrics"]]
    return found | {f"{kind} {macro}" for macro in MACRO.findall(" ".join(written))}


def _values(chart: Asset) -> Iterator[str]:
    for key, value in chart.content["params"].items():
        is_form = key not in FREE and not NAMED.search(key) and isinstance(value, str | bool)
        if is_form and len(str(value)) < LONG:
            yield f"{key}={value}"


def drawn() -> dict[str, list[str]]:
    """Returns the titles of the drawn tabs by slug of the dashboard."""
    tabs = {
        (each.content["slug"], tab.title): charts_named(tab.charts)
        for each in of_kind("dashboards")
        for tab in layout.tabs(each.content)
    }
    firsts = {(each.content["slug"], layout.tabs(each.content)[0].title) for each in of_kind("dashboards")}
    chosen = [tab for tab, charts in tabs.items() if tab in firsts or not charts]
    found = {tab: set().union(*map(forms, charts)) for tab, charts in tabs.items()}
    missing = set().union(*found.values()) - set().union(*(found[tab] for tab in chosen))
    while missing:
        best = max(tabs, key=lambda tab: len(found[tab] & missing) / (1 + len(tabs[tab])))
        chosen.append(best)
        missing -= found[best]
    return {slug: [title for its, title in chosen if its == slug] for slug in {slug for slug, _ in tabs}}
