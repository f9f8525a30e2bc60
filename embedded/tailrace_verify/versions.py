"""Tables in which a newer row replaces an older one: what the log has of each version, and which versions of
an alert its job does not write.

An alert is a group of matches. The job raises a group once and then only adds matches to it
(`AlertGroupingFunction`): count, level and metric do not fall, the facts change with level or metric only,
and a suppressed alert was suppressed when it was raised. After a crash the job repeats matches, so these
values can fall until it has repeated all of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tailrace_verify import rows
from tailrace_verify.findings import NOTED, Report, Status
from tailrace_verify.leaves import ALERTS, ARCHIVED, Version, VersionsLeaf

CHECK = "versions"
LEVELS = ("informational", "low", "medium", "high", "critical")
FIXED = (
    *("rule_title", "rule_file", "cluster", "instance", "mapSort(entity)", "entity_key", "event_time"),
    *("user", "src_ip", "database", "program", "link_path"),
)
"""What stays the same after an alert was raised, in ClickHouse."""


def _digest(*values: str) -> str:
    """Returns ClickHouse's expression for half of the SHA-256 of values."""
    texts = ", ".join(f"toJSONString({each})" for each in values)
    return f"lower(hex(substring(SHA256(arrayStringConcat([{texts}], ',')), 1, 16)))"


KEYS = {
    ALERTS: ("concat(toString(rule_id), '/', toString(alert_id))", "toUnixTimestamp64Micro(updated_at)"),
    ARCHIVED: ("concat(toString(table), '/', toString(day))", "toUnixTimestamp64Micro(at)"),
}
"""The key and the version of a row in ClickHouse, by table."""
STATES = {
    ALERTS: (
        *("toString(toUnixTimestamp64Micro(seen_at))", "toString(level)", "toString(count)"),
        *("toString(metric)", "toString(toUInt8(silenced))", _digest(*FIXED), _digest("mapSort(facts)")),
    ),
    ARCHIVED: ("toString(state)", "toString(rows)", "location"),
}
"""The values of a row that a leaf states beside its hash, as texts, by table."""


def query(table: str, columns: Sequence[str]) -> dict[str, str]:
    """Returns the parts of a query of the versions of rows: `table`, `settings`, `select` of the columns key,
    minute, version, hash and second, and `state` of `state_texts`: the texts of STATES."""
    key, version = KEYS[table]
    names = ", ".join(f"`{name}`" for name in rows.checked_columns(columns))
    settings = ", ".join(f"{name} = {value!r}" for name, value in rows.SETTINGS.items())
    select = (
        f"{key} AS key, toUnixTimestamp(toStartOfMinute(event_time)) AS minute, {version} AS version, "
        f"lower(hex(SHA256(concat('\\0', formatRowNoNewline('JSONEachRow', {names}))))) AS hash, "
        "toUnixTimestamp(ingested_at) AS second"
    )
    state = f"[{', '.join(STATES[table])}] AS state_texts"
    return {"table": table, "select": select, "state": state, "settings": settings}


@dataclass(frozen=True)
class _Stored:
    """A version of an alert with the state that its leaf has."""

    leaf: VersionsLeaf
    version: Version
    raised: str
    """When the alert was raised, in microseconds since 1970 UTC."""
    level: int
    count: int
    metric: int
    is_suppressed: bool
    fixed: str
    facts: str


@dataclass
class _Alert:
    """What the versions of an alert had so far."""

    level: int = 0
    count: int = 0
    metric: int = 0
    is_suppressed: bool = True
    facts: dict[tuple[int, int], str] = field(default_factory=dict)
    """By level and metric."""
    raised: dict[str, _Stored] = field(default_factory=dict)
    """The first version by the time at which the alert was raised."""

    def fallen(self, each: _Stored) -> list[str]:
        """Returns what a version has that the job gives an alert only when it repeats matches."""
        found = [name for name in ("level", "count", "metric") if getattr(each, name) < getattr(self, name)]
        found = [f"a lower {name}" for name in found]
        if each.is_suppressed and not self.is_suppressed:
            found.append("a suppression")
        if self.facts.get((each.level, each.metric), each.facts) != each.facts:
            found.append("other facts")
        if each.raised not in self.raised and each.fixed not in {one.fixed for one in self.raised.values()}:
            found.append("another subject or place")
        return found

    def add(self, each: _Stored) -> None:
        self.level, self.count = max(self.level, each.level), max(self.count, each.count)
        self.metric = max(self.metric, each.metric)
        self.is_suppressed = self.is_suppressed and each.is_suppressed
        self.facts.setdefault((each.level, each.metric), each.facts)
        self.raised.setdefault(each.raised, each)


def verify(leaves: Iterable[VersionsLeaf], report: Report) -> None:
    """Compares the versions of each alert with each other, in the order in which they replace each other."""
    found: dict[str, list[_Stored]] = defaultdict(list)
    for leaf in leaves:
        for version in leaf.versions if leaf.table == ALERTS else ():
            if version.state:
                found[version.key].append(_stored(leaf, version))
    for versions in found.values():
        versions.sort(key=lambda each: (each.version.version, each.leaf.index))
        alert = _Alert()
        for each in versions:
            if alert.raised:
                _compare(alert, each, each is versions[-1], report)
            alert.add(each)


def _stored(leaf: VersionsLeaf, version: Version) -> _Stored:
    raised, level, count, metric, suppressed, fixed, facts = version.state
    rank = LEVELS.index(level) if level in LEVELS else -1
    return _Stored(leaf, version, raised, rank, int(count), int(metric), suppressed == "1", fixed, facts)


def _compare(alert: _Alert, each: _Stored, is_newest: bool, report: Report) -> None:
    key = each.version.key
    place = {"table": ALERTS, "minute": each.version.minute, "leaf": each.leaf.index, "key": key}
    first = alert.raised.get(each.raised)
    if first and first.fixed != each.fixed:
        other = f"other values than entry {first.leaf.index}"
        report.tampered(CHECK, f"a version of the row {key} has {other}: no job stored it", **place)
    elif fallen := alert.fallen(each):
        what = f"a version of the row {key} has {', '.join(fallen)}"
        message = f"{what}: the job repeated matches after a crash, or somebody else stored it"
        is_open = is_newest and not _is_recent(each.leaf, report)
        report.add(Status.UNDETERMINED if is_open else NOTED, CHECK, message, **place)


def _is_recent(leaf: VersionsLeaf, report: Report) -> bool:
    """Whether the job of a log that runs may still repeat matches."""
    if report.settled is None:
        return False
    return datetime.fromisoformat(leaf.ingested[1]) > datetime.fromtimestamp(report.settled, UTC)
