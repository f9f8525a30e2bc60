"""The filters of the alert inbox: the parameters of an address, as parameters of sql/queries/page_alerts.sql.

state=active        open or acknowledged (default); open, acknowledged, closed, suppressed, any
level=high          this severity; `medium or lower`: all but high and critical
rule=…              the rule's id, or a part of its title in any case
field=user&value=…  a field of the alert's entity, or of the alert itself, in any case
cluster=…, instance=…   one or several, with commas between them
assignee=me         me, nobody, or a name
verdict=benign      of closed alerts
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tailrace.alerts import triage
from tailrace_pages import formats
from tailrace_pages.page_errors import BadAddressError

STATES = ("active", "open", "acknowledged", "closed", "suppressed", "any")
ME, NOBODY = "me", "nobody"
LOWER = "medium or lower"
"""Several severities in one filter: those to which a number of the security overview leads."""
RANGE = "30d"
"""The default time range: alerts wait for days. The inbox says how many active ones are older."""

CHOICES = {
    "state": STATES,
    "level": ("", *formats.LEVELS, LOWER),
    "verdict": ("", *triage.VERDICTS),
}
"""Arguments that have a few possible values."""
TEXTS = ("rule", "field", "value", "cluster", "instance", "assignee")
ARGUMENTS = (*CHOICES, *TEXTS)

PRESETS = {
    "To do": {},
    "Open": {"state": "open"},
    "Critical and open": {"state": "open", "level": "critical"},
    "Mine": {"assignee": ME},
    "Unassigned": {"assignee": NOBODY},
    "Closed": {"state": "closed"},
    "True positives": {"state": "closed", "verdict": "true positive"},
}
"""Filters that everybody has, by name."""


@dataclass(frozen=True)
class Filters:
    """The values of ARGUMENTS; an empty text does not restrict."""

    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels that the filters show, the highest level first."""
        if self["level"] == LOWER:
            return formats.LEVELS[formats.LEVELS.index("medium") :]
        return (self["level"],) if self["level"] else formats.LEVELS

    def with_level(self, level: str) -> "Filters":
        return Filters({**self.values, "level": level})

    def arguments(self) -> dict[str, str]:
        """Returns the arguments of an address, without the defaults."""
        return {
            name: value
            for name, value in self.values.items()
            if value and (name, value) != ("state", "active")
        }

    def parameters(self, viewer: str) -> dict[str, str]:
        """Returns the parameters of the query; `viewer` is the user name that `me` stands for."""
        given = self["assignee"]
        return {
            **{name: self[name] for name in ARGUMENTS if name != "assignee"},
            "by_assignee": "yes" if given else "",
            "assignee": assignee_of(given, viewer),
        }


def assignee_of(given: str, viewer: str) -> str:
    """Returns the name that an argument `assignee` stands for, empty for `nobody`; `viewer` is `me`."""
    return {ME: viewer, NOBODY: ""}.get(given, given)


def parse(arguments: Mapping[str, str]) -> Filters:
    """Returns the filters of an address. Raises BadAddressError for a value that does not exist."""
    found = {name: arguments.get(name, "").strip() for name in ARGUMENTS}
    found["state"] = found["state"] or STATES[0]
    for name, choices in CHOICES.items():
        if found[name] not in choices:
            listed = ", ".join(filter(None, choices))
            raise BadAddressError(f"{name}={found[name]} does not exist; there are {listed}.")
    if bool(found["field"]) != bool(found["value"]):
        raise BadAddressError(
            "A filter on an entity needs both its field and its value, such as user and backup."
        )
    return Filters(found)
