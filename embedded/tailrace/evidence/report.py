"""The content of the report, before it becomes a page or a PDF: warnings, coverage, and requirements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tailrace.evidence.coverage import CHANGED, NOT_AUDITED, OFF, Coverage
from tailrace.evidence.framework import Framework, Requirement
from tailrace.evidence.period import Period
from tailrace.evidence.results import NULL, Stored
from tailrace.plural import counted

PROVES = (
    "The manifest contains the SHA-256 sum of every file of this bundle. Its Ed25519 signature proves that "
    "the bundle is unchanged since its export by the holder of the key. It proves nothing about the time "
    "before: the servers wrote the logs, and the logs are only as reliable as these servers."
)
STATES_MEAN = (
    "Unread logs cannot show anything. A minute of a log is <b>covered</b> if all bytes by which the "
    "log grew were read; <b>behind</b> if they were not read yet; <b>missing</b> if some of them were lost; "
    "<b>unknown</b> if no census was taken, so that the log may have grown. The log of a server that is "
    "configured to log less or nothing is still covered: see the states of servers and changes of auditing."
)
ALL_READ = "Every minute of every watched log was read."
"""Covers the bytes of the logs only: they do not show whether servers logged everything that they should."""
CHECK = (
    "tailrace evidence verify evidence.zip --public-key key.pem",
    "openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in manifest.json -sigfile manifest.sig",
)


@dataclass(frozen=True)
class Report:
    """Everything that page and PDF contain."""

    framework: Framework
    period: Period
    actor: str
    made_at: datetime
    key_fingerprint: str
    versions: Mapping[str, str]
    coverage: Coverage
    stored: Mapping[str, Stored]

    @property
    def warnings(self) -> list[str]:
        """Warnings to read before the results, the most severe first."""
        return [*self._unseen(), *self._minutes(), *self._reviews(), *self._accounts(), *self._retention()]

    def of(self, requirement: Requirement) -> list[Stored]:
        return [self.stored[name] for name in requirement.results]

    def days(self) -> list[str]:
        """Returns every day that the period touches."""
        last = (self.period.end - timedelta(minutes=1)).date()
        first = self.period.first.date()
        return [f"{first + timedelta(days=n)}" for n in range((last - first).days + 1)]

    def _unseen(self) -> list[str]:
        found = []
        if not self.coverage.logs:
            found.append(
                "No census of any log covers this period. Empty results below prove nothing: it is unknown "
                "whether any log was complete."
            )
        if unaudited := self.coverage.in_state(*NOT_AUDITED):
            found.append(
                f"No audit log of the period: {_some(unaudited)}. Activity on these servers is missing in "
                "all results that depend on audit logs."
            )
        if later := self.coverage.read_later():
            found.append(
                f"The audit logs of this period were read later, on the day in brackets: {_some(later)}. "
                "Their records are included. Whether the logs were still complete then is unknown."
            )
        if part := self.coverage.audited_in_part():
            found.append(
                f"Audit logs that were watched during a part of the period: {_some(part)}. Whether all "
                "records of the other part are stored is unknown."
            )
        if off := self.coverage.in_state(OFF):
            found.append(
                f"Auditing was off during part or all of the period on these servers: {_some(off)}. "
                "Their logs may be completely covered and still lack the activity of that time."
            )
        if changed := self.coverage.in_state(CHANGED):
            found.append(
                f"Auditing was switched or reconfigured in the period: {_some(changed)}. Activity that was "
                "not logged during that time is in no result: see results/audit_log_changes.csv."
            )
        return found

    def _minutes(self) -> list[str]:
        parts = [
            f"{count:,} {state}"
            for state in ("missing", "unknown", "behind")
            if (count := self.coverage.minutes(state))
        ]
        if not parts:
            return []
        return [
            f"Minutes of logs that are not covered: {', '.join(parts)}, in "
            f"{counted(self.coverage.not_covered_intervals, 'interval')}. "
            "All of them are in results/coverage.csv."
        ]

    def _reviews(self) -> list[str]:
        days = self.stored["days_without_review"].rows if "days_without_review" in self.stored else 0
        if not days:
            return []
        return [
            f"Days that signed reviews do not cover from 00:00 to 24:00 UTC on all servers: {days:,} of "
            f"{len(self.days()):,}. Those that are partly reviewed are in results/days_without_review.csv."
        ]

    def _accounts(self) -> list[str]:
        if "accounts" in self.stored and not self.stored["accounts"].rows:
            return ["No accounts of any server are known: results about accounts are incomplete."]
        return []

    def _retention(self) -> list[str]:
        days = int(self.versions["audit records kept, days"])
        if self.made_at - self.period.first > timedelta(days=days):
            return [f"The period begins before the oldest stored audit records ({counted(days, 'day')})."]
        return []


def rows_text(stored: Stored) -> str:
    """`3 rows`, `20 of 1,234 rows shown`, …"""
    if stored.rows > len(stored.first):
        return f"{len(stored.first)} of {stored.rows:,} rows shown"
    return counted(stored.rows, "row")


def cell(text: str) -> str:
    """Formats a value for readers: no NULL, no fractions of seconds, no invisible or bidirectional
    characters."""
    if text == NULL:
        return "\N{EN DASH}"
    if len(text) == 26 and text[10] == " " and text[19] == ".":
        text = text[:19]
    return "".join(sign if sign.isprintable() else f"\\u{{{ord(sign):x}}}" for sign in text)


def heading(column: str) -> str:
    return column.replace("_", " ")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(cell(name) for name in names[:10]) + more
