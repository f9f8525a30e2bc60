"""What is known about the slow logs of the servers that ran a statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Logging:
    """What is known about the slow logs of the servers that ran a statement: rows of page_query_logging."""

    servers: Sequence[str]
    rows: Sequence[Row]

    def limits(self) -> str:
        """Returns the data limits in one line: which executions the logs contain, on how many servers."""
        if not self.servers:
            return ""
        logged = {row["server"]: row["logged"] for row in self.rows}
        settings: dict[str, int] = {}
        for server in self.servers:
            settings[logged.get(server) or ""] = settings.get(logged.get(server) or "", 0) + 1
        known = sorted(((count, text) for text, count in settings.items() if text), reverse=True)
        parts = [f"{text} on {count} of {_servers(len(self.servers))}" for count, text in known]
        if unknown := settings.get(""):
            parts.append(f"unknown on {unknown} of {_servers(len(self.servers))}")
        return "Slow logs contain: " + "; ".join(parts)

    def are_read(self) -> bool:
        """Returns whether the log of every server had entries at the start of the earlier periods."""
        read = {row["server"] for row in self.rows if row["is_read"]}
        return bool(self.servers) and read.issuperset(self.servers)

    def changed_since(self, since: datetime) -> list[tuple[str, datetime]]:
        """Returns the servers whose settings changed at or after a time, with that time."""
        return [(row["server"], at) for row in self.rows for at in row["changes"] if at >= since]


def _servers(count: int) -> str:
    return f"{count} server{'' if count == 1 else 's'}"
