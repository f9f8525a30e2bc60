"""The formats of an alert for machines: documents for JSON, and lines for syslog."""

import json
from collections.abc import Callable, Mapping

from tailrace.alerts.delivery import ecs, event_lines, ocsf
from tailrace.clickhouse.client import Row

DOCUMENTS: Mapping[str, Callable[[Row, str], object]] = {"ecs": ecs.document, "ocsf": ocsf.document}
"""By name: a function of an alert and the address of the dashboards, which returns a JSON object."""


def _json_line(document: Callable[[Row, str], object]) -> Callable[[Row, str], str]:
    def line(alert: Row, dashboards: str) -> str:
        return json.dumps(document(alert, dashboards), ensure_ascii=False, separators=(",", ":"))

    return line


LINES: Mapping[str, Callable[[Row, str], str]] = {
    "cef": event_lines.cef,
    "leef": event_lines.leef,
    **{name: _json_line(document) for name, document in DOCUMENTS.items()},
}
"""By name: a function of an alert and the address of the dashboards, which returns a line without its end."""
