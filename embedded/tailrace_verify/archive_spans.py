"""The leaves of the log that the proofs of an archive contain: an archive must have them without a gap.

The directory of proofs of a day contains the leaves [first, end) of its `scope.json`. Since `after` exists,
`archive run` lets them begin where the earlier ones end. So a day that was deleted with its proofs leaves a
gap, and the days that are left cannot be made to close it.
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
    """Whether its leaves begin at the end of earlier ones, if there are any."""

    @property
    def day(self) -> str:
        return self.folder.split("/")[1]


@dataclass(frozen=True)
class Gap:
    """The leaves [first, end), which no directory has, between two of them; `before` may be missing."""

    first: int
    end: int
    before: Span
    after: Span


def parsed(contents: Mapping[str, bytes | None]) -> list[Span]:
    """Returns the spans of files `proofs/DAY/TOKEN/scope.json`; malformed ones have none."""
    found = []
    for name, data in contents.items():
        try:
            document = json.loads(data or b"")
            first, end = int(document["first"]), int(document["end"])
            continues = "after" in document
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if 0 <= first < end:
            found.append(Span(first, end, name.rpartition("/")[0], continues))
    return sorted(found)


def gaps(spans: Sequence[Span]) -> Iterator[Gap]:
    """Yields the leaves between spans that none of them has."""
    if not spans:
        return
    furthest = spans[0]
    for span in spans:
        if span.first > furthest.end:
            yield Gap(furthest.end, span.first, furthest, span)
        if span.end > furthest.end:
            furthest = span


def beginning(spans: Sequence[Span]) -> int | None:
    """Returns the leaf at which new proofs begin so that no gap is left, None for the first ones.

    A gap before proofs of an earlier version is filled, because it need not be a deleted day.
    """
    if not spans:
        return None
    older = next((gap.first for gap in gaps(spans) if not gap.after.continues), None)
    return max(span.end for span in spans) if older is None else older


def find_gaps(
    content: Files, verified: Collection[str], deleted: Collection[str], report: Report
) -> Iterator[str]:
    """Yields the directories of proofs that close a gap between those of `verified`, for verification too,
    and reports the gaps that none closes. `deleted` are days that somebody deleted."""
    names = [name for name in content.below(PROOFS) if name.endswith(f"/{SCOPE}")]
    spans = parsed({name: content.read(name) for name in names})
    chosen = [span for span in spans if span.folder in verified]
    for gap in list(gaps(chosen)):
        for span in spans:
            if span.folder not in verified and span.first < gap.end and span.end > gap.first:
                chosen.append(span)
                yield span.folder
    for gap in gaps(sorted(chosen)):
        first, last = sorted((gap.before.day, gap.after.day))
        if any(first <= day <= last for day in deleted):
            continue
        leaves = counted(gap.end - gap.first, "leaf", "leaves")
        message = f"the archive lacks {leaves} of the log: days between {first} and {last} were deleted"
        place = {"leaf": gap.first, "day": first, "folder": gap.after.folder}
        if gap.after.continues:
            report.incomplete(CHECK, message, **place)
        else:
            report.undetermined(CHECK, f"{message}, or an earlier version wrote their proofs", **place)
