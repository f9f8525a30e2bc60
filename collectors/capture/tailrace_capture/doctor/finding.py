"""The result of one check, with a fix."""

from dataclasses import asdict, dataclass

ERROR, WARNING, INFO, OK = "error", "warning", "info", "ok"
SEVERITIES = (ERROR, WARNING, INFO, OK)


@dataclass(frozen=True)
class Finding:
    """error: Tailrace cannot read this. warning: it reads less than possible, or wrong values. info: worth
    knowing. ok: correct."""

    severity: str
    topic: str
    """The checked topic: connection, permissions, slow log, …"""
    message: str
    fix: tuple[str, ...] = ()
    """Lines to run or to write; the first one says where, unless it is SQL."""

    def to_json(self) -> dict[str, object]:
        return {**asdict(self), "fix": list(self.fix)}


def in_order(findings: list[Finding]) -> list[Finding]:
    """Returns the most severe findings first, otherwise in their order."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
