"""Gives each server one colour in the charts of all dashboards.

Superset 6.1.0 gives a series without a colour of its own the next one of the palette, so that a server had
another colour in each dashboard. A dashboard names colours of series in `label_colors`, but names of servers
are not known when it is written. `name_colours` adds them to the answer by which a browser opens a dashboard.

Servers have the colours of the palette in the order in which they became known, so that a new server changes
the colour of no other one. If there are more servers than colours, several have the same one.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

from flask import Response, current_app, request

OPENED = "DashboardRestApi.get"
SCHEME = "tailrace"
"""The palette of superset_config.py."""
LAST = ("#DF0913", "#8F8F8F")
"""What failed is red in many charts, and what is unknown or other is grey: servers have these colours only if
all others are taken."""

MOST = 1000
"""Servers whose colours are given, those that have been known for longest. Each opened dashboard contains
their names. The colours of other servers may differ between dashboards."""

_log = logging.getLogger(__name__)


def name_colours(answer: Response) -> Response:
    """after_request: the opened dashboard has the colours of all servers."""
    if request.endpoint == OPENED and answer.status_code == 200:
        colours = colours_of(_servers()[:MOST], _palette())
        body = answer.get_json()
        if colours and (changed := with_colours(body.get("result", {}), colours)) is not None:
            answer.set_data(json.dumps({**body, "result": changed}))
    return answer


def with_colours(dashboard: Mapping[str, Any], colours: Mapping[str, str]) -> dict[str, Any] | None:
    """Returns a dashboard of Superset's REST interface with these colours beside its own, which count first.

    Returns None for a dashboard with another palette, which a person has made.
    """
    metadata = json.loads(dashboard.get("json_metadata") or "{}")
    if metadata.get("color_scheme") != SCHEME:
        return None
    metadata["label_colors"] = {**colours, **metadata.get("label_colors", {})}
    return {**dashboard, "json_metadata": json.dumps(metadata)}


def colours_of(servers: Iterable[str], palette: Sequence[str]) -> dict[str, str]:
    """Returns the colour of each server; `servers` are in the order in which they became known."""
    ordered = sorted(palette, key=lambda colour: colour in LAST)
    return dict(zip(dict.fromkeys(servers), cycle(ordered)))


def _palette() -> Sequence[str]:
    schemes = current_app.config["EXTRA_CATEGORICAL_COLOR_SCHEMES"]
    return next(each["colors"] for each in schemes if each["id"] == SCHEME)


def _servers() -> list[str]:
    """Returns the names of the servers that the viewer may know, or none if ClickHouse does not answer."""
    from tailrace_pages.page_errors import PageError
    from tailrace_pages.store import store

    try:
        return [row["instance"] for row in store().rows("page_servers")]
    except PageError as error:
        _log.warning("servers have the colours of Superset: %s", error)
        return []
