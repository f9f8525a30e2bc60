"""The rules of an entry of the list, with the cases of schemas/contracts/pulled_entry.json.

The product has the same rules for `sources.yaml` in `tailrace.sources.pulled_entry`, which the puller cannot
import.
"""

import zoneinfo
from collections.abc import Mapping

from tailrace_pull.log_tables import LIVE_TABLES
from tailrace_pull.object_records import AZURE_LOGS
from tailrace_pull.performance_schema import PERFORMANCE_SCHEMA

RDS, CLOUDWATCH, TABLE, OBJECTS = "rds", "cloudwatch", "table", "objects"
HUB, OTLP = "event_hubs", "otlp"
AWS_KEYS = ("region", "db_instance", "endpoint")
KEYS = {
    RDS: (*AWS_KEYS, "file"),
    CLOUDWATCH: (*AWS_KEYS, "log_group", "stream", "since"),
    TABLE: ("defaults_file", "host", "archive"),
    OBJECTS: ("url", *AWS_KEYS, "account", "log_group", "since"),
    HUB: ("url", "db_instance", "endpoint", "connection_file", "since"),
    OTLP: ("url", "match", "connection_file", "since"),
}
"""The keys of each kind, besides those of all kinds."""
REQUIRED = {
    RDS: ("region", "db_instance"),
    CLOUDWATCH: ("region", "db_instance"),
    TABLE: ("defaults_file",),
    OBJECTS: ("url", "db_instance"),
    HUB: ("url", "db_instance"),
    OTLP: ("url", "match"),
}
"""The keys that each kind needs, besides those of all kinds."""
SOURCES = ("slowlog", "audit", "errorlog", "general")
SOURCES_OF: Mapping[str, tuple[str, ...]] = {
    TABLE: (*LIVE_TABLES, "errorlog"),
    HUB: tuple(AZURE_LOGS),
    OTLP: (*SOURCES, PERFORMANCE_SCHEMA),
}
"""The kinds of logs of a kind that does not have exactly those of `SOURCES`."""


def require_valid(values: Mapping[str, object], defaults: Mapping[str, object]) -> None:
    """Checks the values of an entry; `defaults` are those of its optional keys. Raises ValueError."""
    kind = values["kind"]
    if kind not in KEYS:
        raise ValueError(f"kind must be one of {', '.join(KEYS)}, not {kind!r}")
    where = f"{values['source']} of {values['instance']}"
    for name in ("instance", "source", "cluster", *REQUIRED[str(kind)]):
        if not values[name]:
            raise ValueError(f"{where}: {name} is missing")
    for name, value in values.items():
        if not isinstance(value, str):
            raise ValueError(f"{where}: {name} must be text, not {value!r}")
    _require_keys_of_kind(where, str(kind), {name for name in defaults if values[name] != defaults[name]})
    _require_source(where, str(kind), str(values["source"]))
    _require_zone(where, str(values["tz"]))


def _require_keys_of_kind(where: str, kind: str, given: set[str]) -> None:
    for name in sorted(given - set(KEYS[kind])):
        if kinds := [other for other, names in KEYS.items() if name in names]:
            raise ValueError(f"{where}: `{name}` is a key of kind {', '.join(kinds)}, not of kind {kind}")


def _require_source(where: str, kind: str, source: str) -> None:
    known = SOURCES_OF.get(kind, SOURCES)
    if source not in known:
        raise ValueError(f"{where}: source must be one of {', '.join(known)}, not {source!r}")


def _require_zone(where: str, tz: str) -> None:
    try:
        zoneinfo.ZoneInfo(tz)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"{where}: tz must be an IANA zone such as Europe/Berlin, not {tz!r}") from None
