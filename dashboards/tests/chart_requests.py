"""Requests of browsers for the data of charts, sent without a browser."""

import json
import re
from dataclasses import dataclass

from tailrace.dashboards.superset_client import Client, SupersetError


class Person(Client):
    """A user whose CSRF token comes with a page, as in a browser."""

    def _forgery_token(self) -> str:
        page = self._request("/login/").decode()
        return re.search(r'id="csrf_token"[^>]*value="([^"]+)"', page)[1]


@dataclass(frozen=True)
class Chart:
    """A chart on a dashboard, by Superset's ids."""

    dashboard: int
    slug: str
    number: int
    dataset: int
    columns: tuple[str, ...]


def status(ask, *arguments) -> int:
    try:
        ask(*arguments)
    except SupersetError as error:
        return error.status
    return 200


def question(chart: Chart, **form_data: object) -> dict[str, object]:
    """Sends the data request of a browser for a chart, with this context."""
    return {
        "datasource": {"id": chart.dataset, "type": "table"},
        "queries": [{"columns": [chart.columns[0]], "metrics": [], "row_limit": 5, "filters": []}],
        "form_data": form_data,
        "result_format": "json",
        "result_type": "full",
        "force": True,
    }


def in_its_place(chart: Chart) -> dict[str, object]:
    return question(chart, dashboardId=chart.dashboard, slice_id=chart.number)


def downloaded(client: Client, asked: dict[str, object]) -> str:
    return client._request("/api/v1/chart/data", json.dumps(asked).encode(), "application/json").decode()
