"""Converts an alert to one line of text: ArcSight's CEF (version 0) and QRadar's LEEF (version 2.0).

Users choose names that reach these lines. Each format escapes what would end a field or begin another one,
and no value contains a line end.
"""

import ipaddress
from collections.abc import Mapping

from tailrace import __version__
from tailrace.alerts.delivery import ecs, ocsf
from tailrace.alerts.triage import LEVELS
from tailrace.clickhouse.client import Row

CEF_SEVERITY = dict(zip(LEVELS, (1, 3, 5, 8, 10), strict=True))
"""CEF: 0 to 3 low, 4 to 6 medium, 7 and 8 high, 9 and 10 very high. LEEF: 1 to 10."""
TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSX"
"""The pattern of `devTime`, in the notation of Java's SimpleDateFormat."""


def cef(alert: Row, dashboards: str) -> str:
    """Returns the line of an alert in CEF; unknown values are omitted."""
    header = ("Tailrace", "Tailrace", __version__, alert["rule_id"], alert["rule_title"])
    fields = {
        "externalId": ecs.id_of(alert),
        "cnt": alert["count"],
        "start": ocsf.millis(alert["window_from"]),
        "end": ocsf.millis(alert["event_time"]),
        "rt": ocsf.millis(alert["detected_at"]),
        "suser": alert["user"],
        **_cef_address(str(alert["src_ip"])),
        "dhost": alert["instance"],
        "sproc": alert["program"],
        **_labelled(1, "entity", alert["entity_key"]),
        **_labelled(2, "database", alert["database"]),
        **_labelled(3, "tags", ",".join(alert["tags"])),
        **_labelled(4, "statement", next(iter(alert["statements"]), "")),
        "request": ecs.link(alert, dashboards),
        "msg": ecs.message(alert),
    }
    start = "|".join(map(_cef_header, map(str, header)))
    return f"CEF:0|{start}|{_severity(alert)}|" + " ".join(
        f"{name}={_cef_value(str(value))}" for name, value in fields.items() if value not in ecs.EMPTY
    )


def leef(alert: Row, dashboards: str) -> str:
    """Returns the line of an alert in LEEF, with tabs between its fields; unknown values are omitted."""
    header = ("Tailrace", "Tailrace", __version__, alert["rule_id"])
    fields = {
        "cat": alert["rule_title"],
        "devTime": f"{ecs.time_of(alert['event_time'])[:19]}.{_millis_of_second(alert)}Z",
        "devTimeFormat": TIME_FORMAT,
        "sev": _severity(alert),
        "usrName": alert["user"],
        "src": alert["src_ip"],
        "resource": alert["instance"],
        "externalId": ecs.id_of(alert),
        "count": alert["count"],
        "entity": alert["entity_key"],
        "database": alert["database"],
        "program": alert["program"],
        "tags": ",".join(alert["tags"]),
        "statement": next(iter(alert["statements"]), ""),
        "url": ecs.link(alert, dashboards),
        "message": ecs.message(alert),
    }
    start = "|".join(_one_line(str(each)).replace("|", " ") for each in header)
    return f"LEEF:2.0|{start}|x09|" + "\t".join(
        f"{name}={_one_line(str(value))}" for name, value in fields.items() if value not in ecs.EMPTY
    )


def _severity(alert: Row) -> int:
    return CEF_SEVERITY.get(str(alert["level"]), 0)


def _millis_of_second(alert: Row) -> str:
    return f"{ocsf.millis(alert['event_time']) % 1000:03d}"


def _cef_address(text: str) -> Mapping[str, str]:
    """Returns `src` for an IPv4 address and `c6a2` for an IPv6 address, as CEF requires."""
    try:
        version = ipaddress.ip_address(text).version
    except ValueError:
        return {}
    return {"src": text} if version == 4 else {"c6a2Label": "Source IPv6 Address", "c6a2": text}


def _labelled(number: int, label: str, value: str) -> Mapping[str, str]:
    return {f"cs{number}Label": label, f"cs{number}": value} if value else {}


def _cef_header(text: str) -> str:
    return _one_line(text).replace("\\", "\\\\").replace("|", "\\|")


def _cef_value(text: str) -> str:
    return _one_line(text).replace("\\", "\\\\").replace("=", "\\=")


def _one_line(text: str) -> str:
    """Replaces control characters, tabs and line ends by spaces."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
