"""Static checks of the choice of tabs that the browser draws in CI, and of what only drawing would find."""

import pytest
import rendered_tabs
from loaded_assets import charts_named, charts_of, names, of_kind
from test_assets import columns_asked, metrics_asked

from tailrace.dashboards import layout

TABLES = [chart for chart in of_kind("charts") if chart.content["viz_type"] == "table"]


def test_each_form_of_a_chart_is_drawn():
    drawn = rendered_tabs.drawn()
    shown = {
        name
        for each in of_kind("dashboards")
        for tab in layout.tabs(each.content)
        if tab.title in drawn[each.content["slug"]]
        for name in tab.charts
    }
    assert set().union(*map(rendered_tabs.forms, charts_named(list(shown)))) == set().union(
        *map(rendered_tabs.forms, of_kind("charts"))
    )


@pytest.mark.parametrize("dashboard", of_kind("dashboards"), ids=names(of_kind("dashboards")))
def test_the_first_tab_and_texts_are_drawn(dashboard):
    first, *others = layout.tabs(dashboard.content)
    drawn = rendered_tabs.drawn()[dashboard.content["slug"]]
    assert {first.title, *(tab.title for tab in others if not tab.charts)} <= set(drawn)
    assert any(charts_of(dashboard)), "a dashboard has charts"


@pytest.mark.parametrize("chart", TABLES, ids=names(TABLES))
def test_only_shown_columns_are_configured(chart):
    """Superset ignores the configuration of a column that the table does not have, and draws its default."""
    params = chart.content["params"]
    configured = {*params.get("column_config", {})}
    configured |= {each["column"] for each in params.get("conditional_formatting", [])}
    shown = columns_asked(chart) | metrics_asked(chart)
    assert configured <= shown, f"{chart.file} configures columns that it does not show"
