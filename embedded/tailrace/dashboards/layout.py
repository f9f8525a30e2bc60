"""The layout of a dashboard: rows of charts and texts, either in tabs or as a single page.

The file of a dashboard has `tabs`, a list of {title, rows}, or `layout`, the rows of a dashboard without
tabs. A row is a list of cells, each {chart: NAME} or {markdown: TEXT} with `width` (1 to 12) and `height`
(units of 8 pixels). Superset draws the charts of the open tab only; at first this is the first one.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

GRID_COLUMNS = 12

UNIT_PIXELS, GAP_PIXELS = 8, 16
"""Pixels of one unit of height, and between two rows."""

Cell = Mapping[str, Any]
Row = list[Cell]
Node = dict[str, Any]


@dataclass(frozen=True)
class Tab:
    """A tab; a dashboard without tabs has one without a title."""

    slug: str
    title: str
    rows: list[Row]

    @property
    def node_id(self) -> str:
        """The anchor of an address that opens this tab: TAB-, the dashboard's slug and the title's words.

        Superset takes tabs of two dashboards with one id for the same tab, when one follows the other.
        """
        return "-".join(["TAB", self.slug, *re.findall(r"[a-z0-9]+", self.title.lower())])

    @property
    def charts(self) -> list[str]:
        return [cell["chart"] for row in self.rows for cell in row if "chart" in cell]

    @property
    def pixels(self) -> int:
        """The height of the rows with the gaps between them."""
        return sum(UNIT_PIXELS * row[0]["height"] + GAP_PIXELS for row in self.rows)


def tabs(dashboard: Mapping[str, Any]) -> list[Tab]:
    """Returns the tabs of the content of a dashboard's file."""
    if "tabs" in dashboard:
        return [Tab(dashboard["slug"], each["title"], each["rows"]) for each in dashboard["tabs"]]
    return [Tab(dashboard["slug"], "", dashboard["layout"])]


def rows(dashboard: Mapping[str, Any]) -> list[Row]:
    return [row for tab in tabs(dashboard) for row in tab.rows]


def cells(dashboard: Mapping[str, Any]) -> Iterator[Cell]:
    return (cell for row in rows(dashboard) for cell in row)


def charts(dashboard: Mapping[str, Any]) -> list[str]:
    """Returns the names of the charts of a dashboard, in the order of the page."""
    return [cell["chart"] for cell in cells(dashboard) if "chart" in cell]


def problems(dashboard: Mapping[str, Any]) -> list[str]:
    """Returns what is wrong with the keys `layout` and `tabs`."""
    found = [key for key in ("layout", "tabs") if isinstance(dashboard.get(key), list)]
    if len(found) != 1:
        return ["expected either `layout` or `tabs`, a list"]
    if found == ["layout"]:
        return []
    named = [
        each for each in dashboard["tabs"] if isinstance(each, dict) and sorted(each) == ["rows", "title"]
    ]
    return [] if len(named) == len(dashboard["tabs"]) else ["each of `tabs` has the keys title, rows"]


def position(dashboard: Mapping[str, Any], cell_node: Callable[[Cell, list[str]], Node]) -> dict[str, Node]:
    """Returns the tree of nodes in Superset's format; `cell_node` returns the node of a cell."""
    found = tabs(dashboard)
    header = {"id": "HEADER_ID", "type": "HEADER", "meta": {"text": dashboard["dashboard_title"]}}
    tree = _tabs(found) if "tabs" in dashboard else _grid(found[0])
    for number, row in enumerate(rows(dashboard), 1):
        row_id = f"ROW-{number}"
        (parent,) = (node for node in tree.values() if row_id in node["children"])
        parents = [*parent["parents"], parent["id"], row_id]
        below = [cell_node(cell, parents) for cell in row]
        background = {"background": "BACKGROUND_TRANSPARENT"}
        tree[row_id] = node(row_id, "ROW", [each["id"] for each in below], parents[:-1], background)
        tree.update({each["id"]: each for each in below})
    return {"DASHBOARD_VERSION_KEY": "v2", **tree, "HEADER_ID": header}


def _grid(page: Tab) -> dict[str, Node]:
    numbered = [f"ROW-{number}" for number, _ in enumerate(page.rows, 1)]
    return {
        "ROOT_ID": node("ROOT_ID", "ROOT", ["GRID_ID"], []),
        "GRID_ID": node("GRID_ID", "GRID", numbered, ["ROOT_ID"]),
    }


def _tabs(found: list[Tab]) -> dict[str, Node]:
    """Returns the nodes above the rows: the tabs are in the grid.

    Tabs in place of the grid do not work in 6.1.0: a dashboard that is opened after another one without
    loading the page shows its last tab.
    """
    tabs_id = f"TABS-{found[0].slug}"
    tree = {
        "ROOT_ID": node("ROOT_ID", "ROOT", ["GRID_ID"], []),
        "GRID_ID": node("GRID_ID", "GRID", [tabs_id], ["ROOT_ID"]),
        tabs_id: node(tabs_id, "TABS", [tab.node_id for tab in found], ["ROOT_ID", "GRID_ID"], {}),
    }
    first = 1
    for tab in found:
        numbered = [f"ROW-{number}" for number in range(first, first + len(tab.rows))]
        meta = {"text": tab.title, "defaultText": tab.title, "placeholder": tab.title}
        tree[tab.node_id] = node(tab.node_id, "TAB", numbered, ["ROOT_ID", "GRID_ID", tabs_id], meta)
        first += len(tab.rows)
    return tree


def node(node_id: str, kind: str, children: list[str], parents: list[str], meta: Node | None = None) -> Node:
    """Returns a node of the tree; `parents` are the ids from the root downwards."""
    found = {"id": node_id, "type": kind, "children": children, "parents": parents}
    return found if meta is None else {**found, "meta": meta}
