"""Maps tags of Sigma rules to names of MITRE ATT&CK: attack.credential-access, attack.t1110.003."""

import re
from collections.abc import Iterable

# The enterprise matrix, version 17 (April 2025), in its order.
TACTICS = {
    "reconnaissance": ("TA0043", "Reconnaissance"),
    "resource-development": ("TA0042", "Resource Development"),
    "initial-access": ("TA0001", "Initial Access"),
    "execution": ("TA0002", "Execution"),
    "persistence": ("TA0003", "Persistence"),
    "privilege-escalation": ("TA0004", "Privilege Escalation"),
    "defense-evasion": ("TA0005", "Defense Evasion"),
    "credential-access": ("TA0006", "Credential Access"),
    "discovery": ("TA0007", "Discovery"),
    "lateral-movement": ("TA0008", "Lateral Movement"),
    "collection": ("TA0009", "Collection"),
    "command-and-control": ("TA0011", "Command and Control"),
    "exfiltration": ("TA0010", "Exfiltration"),
    "impact": ("TA0040", "Impact"),
}

_TAG = "attack."
_TECHNIQUE = re.compile(r"t\d{4}(\.\d{3})?")


def tactics(tags: Iterable[str]) -> list[tuple[str, str]]:
    """Returns id and name of each tactic in the tags. Older rules use underscores instead of hyphens."""
    return [TACTICS[name] for name in _names(tags) if name in TACTICS]


def techniques(tags: Iterable[str]) -> list[str]:
    """Returns the ids of the techniques in the tags, such as T1110.003."""
    return [name.upper() for name in _names(tags) if _TECHNIQUE.fullmatch(name)]


def _names(tags: Iterable[str]) -> list[str]:
    return [tag.removeprefix(_TAG).lower().replace("_", "-") for tag in tags if tag.startswith(_TAG)]
