"""What the manifest of an uploaded bundle states, in words. A foreign bundle may state anything."""

from collections.abc import Mapping
from typing import Any

from tailrace.evidence import framework as frameworks
from tailrace_pages import formats

MINUTES, SECONDS = 16, 19
"""Characters of a time in ISO 8601 until its minutes or seconds."""


def stated(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns (title, text) of what the manifest contains: framework, period, and who exported it when."""
    known = {
        "Framework": _framework(about.get("framework")),
        "Period (UTC)": _period(about.get("period")),
        "Exported by": about.get("exported_by"),
        "Exported at (UTC)": _time(about.get("exported_at"), SECONDS),
    }
    return [(title, formats.visible(text)) for title, text in known.items() if text is not None]


def _framework(name: Any) -> Any:
    return frameworks.load(name).title if name in frameworks.names() else name


def _period(period: Any) -> Any:
    if not isinstance(period, Mapping) or not {"from", "to"} <= period.keys():
        return period
    return f"{_time(period['from'], MINUTES)} to {_time(period['to'], MINUTES)}, end excluded"


def _time(text: Any, characters: int) -> Any:
    return text[:characters].replace("T", " ") if isinstance(text, str) else text
