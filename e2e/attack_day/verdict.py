"""Compares alerts with the manifest of attacks: detected attacks, their rules, and false positives."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

SLACK = timedelta(seconds=2)
"""Logs have times in whole seconds, and record a statement's end after its start."""
ALERTING_LEVELS = ("low", "medium", "high", "critical")
"""The levels that count as alerts; informational ones are for searches."""
URGENT_LEVELS = ALERTING_LEVELS[1:]


@dataclass(frozen=True)
class Alert:
    """One alert, from `tailrace detect --json`."""

    rule: str
    title: str
    level: str
    at: datetime
    names: frozenset[str]
    """The users and hosts of its entity."""

    @staticmethod
    def of(record: dict) -> "Alert":
        fields = {**record.get("event", {}), **record["entity"]}
        names = (fields.get(name) for name in ("user", "host", "src_ip"))
        return Alert(
            record["rule"]["name"] or record["rule"]["title"],
            record["rule"]["title"],
            record["rule"]["level"],
            datetime.fromisoformat(record["@timestamp"]),
            frozenset(name for name in names if name),
        )


@dataclass
class Noticed:
    """The result for one attack."""

    attack: dict
    by: Counter = field(default_factory=Counter)
    """Alerts by rule, including those of unexpected rules."""

    @property
    def found(self) -> bool:
        """Returns whether an expected rule or detector fired."""
        return any(rule in self.by for rule in self.attack["rules"])


@dataclass
class Verdict:
    """All attacks, and the alerts that belong to none."""

    attacks: list[Noticed]
    others: list[Alert]
    before: list[Alert]
    """Alerts of the ordinary days, without those of the company's founding."""
    days_before: dict[str, int]
    """Number of alerts of each ordinary day, by ISO date."""

    @property
    def recall(self) -> float:
        return sum(attack.found for attack in self.attacks) / len(self.attacks)

    @property
    def precision(self) -> float:
        """Returns the share of the attack day's alerts that belong to an attack."""
        true = sum(sum(attack.by.values()) for attack in self.attacks)
        return true / max(1, true + len(self.others))


def judge(manifest: dict, alerts: Iterable[Alert]) -> Verdict:
    """Assigns each alert of the attack day to the attack with the same time and no other user or host."""
    noticed = [Noticed(attack) for attack in manifest["attacks"]]
    day = datetime.fromisoformat(manifest["attack_day"])
    founded = datetime.fromisoformat(manifest["ordinary_days"]["from"])
    of_days: Counter = Counter()
    before, others = [], []
    for alert in alerts:
        if alert.level not in ALERTING_LEVELS:
            continue
        if alert.at < day:
            of_days[alert.at.date().isoformat()] += 1
            if alert.at >= founded:
                before.append(alert)
            continue
        attack = next(_about(alert, noticed), None)
        if attack:
            attack.by[alert.rule] += 1
        else:
            others.append(alert)
    return Verdict(noticed, others, before, dict(sorted(of_days.items())))


def table(verdict: Verdict) -> Iterator[str]:
    """Yields the verdict as lines of Markdown: one per attack, then the alerts that belong to none."""
    yield "| attack | technique | detected by | alerts |"
    yield "|---|---|---|---|"
    for noticed in sorted(verdict.attacks, key=lambda noticed: noticed.attack["name"]):
        by = ", ".join(f"`{rule}`" for rule in sorted(noticed.by)) if noticed.found else "**not detected**"
        name = noticed.attack["name"].replace("_", " ")
        yield f"| {name} | {noticed.attack['technique']} | {by} | {sum(noticed.by.values())} |"
    yield ""
    yield "Alerts of that day that concern no attack:"
    yield ""
    yield "| rule | level | entities | alerts |"
    yield "|---|---|---|---|"
    others = Counter((alert.rule, alert.level, ", ".join(sorted(alert.names))) for alert in verdict.others)
    for (rule, level, who), count in sorted(others.items()):
        yield f"| `{rule}` | {level} | {who} | {count} |"


def _about(alert: Alert, noticed: Iterable[Noticed]) -> Iterator[Noticed]:
    for candidate in noticed:
        begin = datetime.fromisoformat(candidate.attack["from"]) - SLACK
        end = datetime.fromisoformat(candidate.attack["to"]) + SLACK
        who = set(candidate.attack["who"])
        if begin <= alert.at <= end and (not alert.names or alert.names & who):
            yield candidate
