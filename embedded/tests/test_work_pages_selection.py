"""Rows of a table that stay selected after an action on them."""

import re
import uuid

import jinja2

from tailrace_pages import formats, kept_selection
from tailrace_pages.alerts import handling
from tailrace_pages.columns import Column

ID = "7f51d5a4fd9f6347f8595fb466e35d56"


def test_rows_stay_selected_after_an_action_on_them():
    """An alert that is no longer listed is not counted, and the row of an incident has several ids."""
    ids = [f"{number:02}" + ID[2:] for number in range(4)]
    environment = jinja2.Environment(loader=jinja2.PackageLoader("tailrace_pages"), autoescape=True)
    environment.globals.update(formats=formats, kept_selection=kept_selection, least_width=lambda _: 0)
    given = {"columns": (Column("level", "Severity"),), "wanted": "ids"}
    page = environment.from_string(
        '{% import "tailrace_pages/parts.html" as parts with context %}'
        '{{ parts.select_table(columns, rows, "Alerts", wanted) }}'
    )
    rows = [{"id": value, "level": "low"} for value in (ids[0], f"{ids[1]},{ids[0]}", ids[2])]
    selected = kept_selection.shortened([f"{ids[1]},{ids[0]},{ids[2]}", ids[2], ids[3]])
    shown = page.render(**given, rows=rows, selected=selected)
    boxes = re.findall(r'name="ids" value="([^"]+)"( checked)?', shown)
    assert boxes == [(ids[0], ""), (f"{ids[1]},{ids[0]}", " checked"), (ids[2], " checked")]
    assert "Alerts. Still selected: 2</caption>" in shown
    assert " checked" not in page.render(**given, rows=rows, selected=())


def test_the_kept_selection_of_a_whole_action_fits_into_a_cookie():
    kept = kept_selection.shortened(uuid.uuid4().hex for _ in range(2 * handling.AT_MOST))
    assert len(kept) == handling.AT_MOST
    assert len(",".join(kept)) < 2500
