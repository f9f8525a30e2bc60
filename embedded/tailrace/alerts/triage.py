"""Reads alerts and appends the actions of users.

An alert is a row that the detect job wrote; triage never changes it. Actions are appended to
tailrace.alert_actions. sql/queries/parts/alert_state.sql derives the state of an alert (open, acknowledged,
closed) from them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.clickhouse.parameters import encoded
from tailrace.clickhouse.query_files import text_of
from tailrace.errors import ReportedError

QUERY = "alerts"
LEVELS = ("informational", "low", "medium", "high", "critical")
VERDICTS = ("true positive", "false positive", "benign")
"""What a closed alert was: an attack or misuse, a mistake of the rule, or real but harmless activity."""
ID_DIGITS = 32

RULE_IS = "(rule_id = {rule:String} OR positionCaseInsensitiveUTF8(rule_title, {rule:String}) > 0)"
"""Matches a rule by its id, or by a part of its title in any case."""

ACTIONS = (
    "SELECT at, actor, action, assignee, reason, verdict, account FROM tailrace.alert_actions "
    "WHERE alert_id = {id:UUID} ORDER BY at"
)
"""The actions on one alert, oldest first."""

OPEN, ACKNOWLEDGED, CLOSED = "open", "acknowledged", "closed"

_ID = re.compile(r"[0-9a-f]{1,32}")
_ID_IS = "lower(replaceAll(toString(alert_id), '-', ''))"


class AlertError(ReportedError):
    """An operation on an alert is impossible; the message is shown to the user."""


class UnconfirmedError(AlertError):
    """Kafka may or may not have stored a suppression or its end."""


class StateError(AlertError):
    """The state of the alert does not allow the action."""


FIELDS = (
    *("event_id", "timestamp", "cluster", "instance", "format", "event_class", "command"),
    *("command_class", "event_name", "login", "outcome", "status", "error_code", "user", "priv_user"),
    *("proxy_user", "os_user", "host", "src_ip", "src_port", "connection_id", "connection_type"),
    *("program", "database", "table", "table_read", "table_written", "tables_basis", "data_class"),
    *("data_class_read", "data_class_written", "data_basis", "data_access"),
    *("target_account", "target_user", "verb", "statement"),
    *("query_id", "server_query_id", "query_time", "lock_time", "rows_sent", "rows_examined"),
    *("rows_affected", "bytes_sent", "plan_flag", "flag", "server_version", "level", "subsystem"),
    *("kind", "message", "trace_id", "span_id"),
)
"""The fields of docs/TAXONOMY.md."""


def entity_fields(clickhouse: ClickHouse) -> list[str]:
    """Returns the fields that entities can have: those of events, and those of any stored alert."""
    rows = clickhouse.rows("SELECT DISTINCT arrayJoin(mapKeys(entity)) AS name FROM tailrace.alerts")
    return sorted({*FIELDS, *(str(row["name"]) for row in rows)})


@dataclass(frozen=True)
class AlertQuery:
    """Filters of the list of alerts. Empty means any."""

    states: Sequence[str] = ()
    silenced: bool = False
    """Include silenced alerts."""
    since_seconds: int = 0
    """Raised or grown within this many seconds; 0: at any time."""
    rule: str = ""
    """Id of the rule, or a part of its title in any case."""
    level: str = ""
    """The minimum level."""
    entity: Mapping[str, str] = field(default_factory=dict)
    """Values of fields of the alert's entity, or of the alert itself, in any case."""
    canary: bool = False
    """Alerts of canary rules instead of the others; they have no triage state."""


def list_worst(clickhouse: ClickHouse, query: AlertQuery, limit: int) -> tuple[list[Row], int]:
    """Returns at most `limit` alerts, most severe and then latest first, and the total number."""
    conditions, parameters = _conditions(query)
    rows = clickhouse.rows(
        f"SELECT *, count() OVER () AS total FROM ({_alerts(query.canary)}) WHERE {conditions} "
        "ORDER BY level_rank DESC, event_time DESC, id LIMIT {limit:UInt32}",
        {**parameters, "limit": limit},
    )
    total = rows[0]["total"] if rows else 0
    return [{key: value for key, value in row.items() if key != "total"} for row in rows], total


def _alerts(canary: bool) -> str:
    """Returns the query of the alerts with their states, from the table of canary rules or from the other."""
    text = text_of(QUERY)
    return (
        text.replace("FROM tailrace.alerts FINAL", "FROM tailrace.canary_alerts AS alerts FINAL")
        if canary
        else text
    )


def _conditions(query: AlertQuery) -> tuple[str, dict[str, object]]:
    found: dict[str, object] = {}
    conditions = ["1"]
    if query.states:
        conditions.append(f"state IN ({', '.join(map(repr, query.states))})")
    if not query.silenced:
        conditions.append("NOT silenced")
    if query.since_seconds:
        conditions.append("updated_at >= now('UTC') - {since:UInt32}")
        found["since"] = query.since_seconds
    if query.rule:
        conditions.append(RULE_IS)
        found["rule"] = query.rule
    if query.level:
        conditions.append("level_rank > {rank:UInt8}")
        found["rank"] = LEVELS.index(query.level)
    for number, (name, value) in enumerate(query.entity.items()):
        conditions.append(_entity_condition(f"{{name{number}:String}}", f"{{value{number}:String}}"))
        found |= {f"name{number}": name, f"value{number}": value}
    return " AND ".join(conditions), found


def _entity_condition(name: str, value: str) -> str:
    columns = ("cluster", "instance", "user", "src_ip", "database", "program")
    own = ", ".join(f"{name} = '{column}', {column}" for column in columns)
    return f"lowerUTF8({value}) IN (lowerUTF8(entity[{name}]), lowerUTF8(multiIf({own}, '')))"


@dataclass(frozen=True)
class AlertDetails:
    """Everything that is stored about one alert."""

    alert: Row
    state: Row
    """Its row of sql/queries/alerts.sql."""
    actions: list[Row]
    """Actions of users, oldest first."""
    deliveries: list[Row]
    """Its deliveries, oldest first."""

    @property
    def id(self) -> str:
        return str(self.state["id"])


def read(clickhouse: ClickHouse, prefix: str) -> AlertDetails:
    """Returns the alert whose id has this prefix. Raises AlertError if there is none, or more than one."""
    (id_,) = resolve(clickhouse, [prefix])
    given = {"id": id_}
    (alert,) = clickhouse.rows(
        "SELECT *, detected_at FROM tailrace.alerts FINAL WHERE alert_id = {id:UUID}", given
    )
    (state,) = clickhouse.rows(f"SELECT * FROM ({text_of(QUERY)}) WHERE id = {{id:String}}", given)
    actions = clickhouse.rows(ACTIONS, given)
    deliveries = clickhouse.rows(
        "SELECT at, channel, count, attempt, outcome, detail FROM tailrace.alert_deliveries "
        "WHERE alert_id = {id:UUID} ORDER BY at",
        given,
    )
    return AlertDetails(alert, state, actions, deliveries)


def resolve(clickhouse: ClickHouse, prefixes: Iterable[str]) -> list[str]:
    """Returns the complete ids of alerts, each given by a prefix. Raises AlertError."""
    given = list(prefixes)
    known = _existing(clickhouse, {_digits(prefix) for prefix in given if len(_digits(prefix)) == ID_DIGITS})
    return [_digits(prefix) if _digits(prefix) in known else _resolve(clickhouse, prefix) for prefix in given]


def _existing(clickhouse: ClickHouse, ids: set[str]) -> set[str]:
    """Returns those complete ids that are ids of alerts, with one query for all of them."""
    valid = sorted(uuid_of(id_) for id_ in ids if _ID.fullmatch(id_))
    if not valid:
        return set()
    rows = clickhouse.rows(
        f"SELECT DISTINCT {_ID_IS} AS id FROM tailrace.alerts WHERE has({{ids:Array(UUID)}}, alert_id)",
        encoded({"ids": valid}),
    )
    return {str(row["id"]) for row in rows}


def _digits(prefix: str) -> str:
    return prefix.lower().replace("-", "")


def _resolve(clickhouse: ClickHouse, prefix: str) -> str:
    wanted = _digits(prefix)
    if not _ID.fullmatch(wanted):
        raise AlertError(
            f"{prefix!r} is not the id of an alert: expected up to {ID_DIGITS} hexadecimal digits; "
            "see: tailrace alerts list"
        )
    rows = clickhouse.rows(
        f"SELECT DISTINCT {_ID_IS} AS id, rule_title FROM tailrace.alerts FINAL "
        f"WHERE startsWith({_ID_IS}, {{prefix:String}}) ORDER BY id LIMIT 4",
        {"prefix": wanted},
    )
    if not rows:
        raise AlertError(f"there is no alert {prefix}; see: tailrace alerts list --all")
    if len(rows) > 1:
        some = ", ".join(f"{row['id'][: len(wanted) + 4]} ({row['rule_title']})" for row in rows[:3])
        raise AlertError(
            f"{prefix} matches the ids of several alerts: {some}{', …' if len(rows) > 3 else ''}; "
            "give more digits"
        )
    return str(rows[0]["id"])


@dataclass(frozen=True)
class Action:
    """An action of a user on alerts. It is appended to all of them or to none."""

    action: str
    """ack, assign, close, reopen or comment."""
    actor: str
    reason: str
    assignee: str = ""
    """The assignee; only for assign."""
    verdict: str = ""
    """One of VERDICTS, or empty; only for close."""
    channel: str = ""
    """The channel of alerts.yaml whose receiver reported the action; empty: a user of Tailrace."""
    request: str = ""
    """Identifies the request of that receiver; empty: none. A request is recorded once per alert."""


def record_action(clickhouse: ClickHouse, prefixes: Sequence[str], action: Action) -> list[str]:
    """Appends the action to each alert; returns their ids. Raises AlertError if one does not allow it."""
    return record_actions(clickhouse, prefixes, [action])


def record_actions(clickhouse: ClickHouse, prefixes: Sequence[str], actions: Sequence[Action]) -> list[str]:
    """Appends all actions to each alert, or none; returns the ids of the alerts.

    The state that each alert has now must allow every action. Raises AlertError.
    """
    ids = list(dict.fromkeys(resolve(clickhouse, prefixes)))
    states = _states(clickhouse, ids)
    for id_ in ids:
        for action in actions:
            _require_possible(id_, *states[id_], action.action, action.verdict)
    rows = [{"alert_id": uuid_of(id_), **_columns(action)} for id_ in ids for action in actions]
    clickhouse.append(f"tailrace.alert_actions ({', '.join(rows[0])})", rows)
    return ids


def _columns(action: Action) -> dict[str, str]:
    given = {"actor": action.actor, "action": action.action, "reason": action.reason}
    given |= {"assignee": action.assignee, "verdict": action.verdict}
    if action.request:  # users.xml of an earlier version does not grant these columns
        given |= {"channel": action.channel, "request": action.request}
    return given


def is_recorded(clickhouse: ClickHouse, id_: str, request: str) -> bool:
    """Returns whether an action of this request is recorded for an alert, given by its complete id."""
    (row,) = clickhouse.rows(
        "SELECT count() AS n FROM tailrace.alert_actions "
        "WHERE alert_id = {id:UUID} AND request = {request:String}",
        {"id": uuid_of(id_), "request": request},
    )
    return int(row["n"]) > 0


def possible(clickhouse: ClickHouse, ids: Sequence[str], action: str, given: str = "") -> list[str]:
    """Returns those of the complete ids of alerts whose state allows an action; `given`: its verdict."""
    states = _states(clickhouse, ids)
    return [id_ for id_ in ids if id_ in states and _is_possible(*states[id_], action, given)]


def _states(clickhouse: ClickHouse, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Returns the state and the verdict of alerts by their complete ids."""
    rows = clickhouse.rows(
        f"SELECT id, state, verdict FROM ({text_of(QUERY)}) WHERE has({{ids:Array(String)}}, id)",
        encoded({"ids": list(ids)}),
    )
    return {str(row["id"]): (str(row["state"]), str(row["verdict"])) for row in rows}


def actions_in(state: str, verdict: str) -> list[str]:
    """Returns the actions that the state and the verdict of an alert allow and that change something.

    `ack` is not one when acknowledged. `close` adds the verdict of an alert that was closed without one.
    """
    names = ("ack", "assign", "comment", "close", "reopen")
    possible_ = [name for name in names if _is_possible(state, verdict, name, VERDICTS[0])]
    return [name for name in possible_ if not (name == "ack" and state == ACKNOWLEDGED)]


def _is_possible(state: str, verdict: str, action: str, given: str) -> bool:
    try:
        _require_possible("", state, verdict, action, given)
    except AlertError:
        return False
    return True


def _require_possible(id_: str, state: str, verdict: str, action: str, given: str) -> None:
    """Raises StateError. A closed alert without a verdict can be closed again with one, which is `given`."""
    short = id_[:8]
    if action == "reopen" and state != CLOSED:
        raise StateError(f"{short} is not closed; see: tailrace alerts show {short}")
    if action == "close" and state == CLOSED and not (given and not verdict):
        raise StateError(f"{short} is closed already; see: tailrace alerts show {short}")
    if action in ("ack", "assign") and state == CLOSED:
        raise StateError(f"{short} is closed; reopen it first: tailrace alerts reopen {short} --reason …")


def uuid_of(id_: str) -> str:
    """Formats 32 hexadecimal digits as a UUID in ClickHouse's notation."""
    return "-".join((id_[:8], id_[8:12], id_[12:16], id_[16:20], id_[20:]))
