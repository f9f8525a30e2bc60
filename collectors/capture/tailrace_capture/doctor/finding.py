"""What was found out about one thing, and how to mend it."""

from dataclasses import asdict, dataclass

ERROR, WARNING, INFO, OK = "error", "warning", "info", "ok"
SEVERITIES = (ERROR, WARNING, INFO, OK)


@dataclass(frozen=True)
class Finding:
    """error: Tailrace does not see this. warning: it sees less than it could, or sees it wrongly. info: worth
    knowing. ok: as it should be."""

    severity: str
    topic: str
    """What was looked at: connection, permissions, slow log, …"""
    message: str
    fix: tuple[str, ...] = ()
    """Lines to run or write, the first one saying where unless it is SQL."""

    def to_json(self) -> dict[str, object]:
        return {**asdict(self), "fix": list(self.fix)}


def in_order(findings: list[Finding]) -> list[Finding]:
    """The worst first, else as they were found."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
