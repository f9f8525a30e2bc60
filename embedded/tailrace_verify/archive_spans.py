"""The leaves of the log that the proofs of an archive contain: an archive must have them without a gap.

The directory of proofs of a day contains the leaves [first, end) of its `scope.json`. `archive run` lets them
begin where the earlier ones end (`after`), and the first ones at leaf 0. So a day that was deleted with its
proofs leaves a gap, and the days that are left cannot be made to close it.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tailrace_verify.archive_days import PROOFS
from tailrace_verify.files import Files
from tailrace_verify.findings import Report
from tailrace_verify.plural import counted

CHECK = "archive"
SCOPE = "scope.json"


@dataclass(frozen=True, order=True)
class Span:
    """The leaves [first, end) of a directory of proofs, `proofs/DAY/TOKEN`."""

    first: int
    end: int
    folder: str
    continues: bool
    """Whether its leaves begin at the end of earlier ones, or at 0 if there were none."""

    @property
    def day(self) -> str:
        return self.folder.split("/")[1]


@dataclass(frozen=True)
class Gap:
    """The leaves [first, end), which no directory has; they begin at 0 if none is `before`."""

    first: int
    end: int
    before: Span | None
    after: Span


def parsed(contents: Mapping[str, bytes | None]) -> list[Span]:
    """Returns the spans of files `proofs/DAY/TOKEN/scope.json`; malformed ones have none."""
    found = []
    for name, data in contents.items():
        try:
            document = json.loads(data or b"")
            first, end = int(document["first"]), int(document["end"])
            continues = document.get("after") is not None
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if 0 <= first < end:
            found.append(Span(first, end, name.rpartition("/")[0], continues))
    return sorted(found)


def gaps(spans: Sequence[Span]) -> Iterator[Gap]:
    """Yields the leaves before and between sorted spans that none of them has."""
    furthest: Span | None = None
    for span in spans:
        end = furthest.end if furthest else 0
        if span.first > end:
            yield Gap(end, span.first, furthest, span)
        if span.end > end:
            furthest = span


def beginning(spans: Sequence[Span]) -> int:
    """Returns the leaf at which new proofs begin so that no gap is left.

    A gap before proofs of an earlier version is filled, because it need not be a deleted day.
    """
    older = next((gap.first for gap in gaps(spans) if not gap.after.continues), None)
    return max((span.end for span in spans), default=0) if older is None else older


def find_gaps(
    content: Files, verified: Collection[str], deleted: Collection[str], is_whole: bool, report: Report
) -> Iterator[str]:
    """Yields the directories of proofs that close a gap of those of `verified`, for verification too, and
    reports the gaps that none closes. `deleted` are days that somebody deleted. `is_whole`: the proofs begin
    at leaf 0."""
    names = [name for name in content.below(PROOFS) if name.endswith(f"/{SCOPE}")]
    spans = parsed({name: content.read(name) for name in names})
    chosen = [span for span in spans if span.folder in verified]
    for gap in [gap for gap in gaps(chosen) if gap.before or is_whole]:
        for span in spans:
            if span.folder not in verified and span.first < gap.end and span.end > gap.first:
                chosen.append(span)
                yield span.folder
    for gap in gaps(sorted(chosen)):
        first, last = sorted((gap.before.day if gap.before else "", gap.after.day))
        if any(first <= day <= last for day in deleted) or not (gap.before or is_whole):
            continue
        leaves = counted(gap.end - gap.first, "leaf", "leaves")
        days = f"between {first} and {last}" if first else f"before {last}"
        message = f"the archive lacks {leaves} of the log: days {days} were deleted"
        place = {"leaf": gap.first, "day": first or last, "folder": gap.after.folder}
        if gap.after.continues:
            report.incomplete(CHECK, message, **place)
        else:
            report.undetermined(CHECK, f"{message}, or an earlier version wrote their proofs", **place)
