"""The oldest and the newest days of an archive: the log records which days were archived, and a checkpoint or
a period of the auditor states until when the archive must have days.

An archive without its newest days and their proofs is exactly the archive that it was before they were
written. So only a period, a checkpoint or ClickHouse shows that they are missing.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from tailrace_verify import check, log, notes
from tailrace_verify.archive_days import TABLES, Day
from tailrace_verify.check import Scope, moment
from tailrace_verify.findings import NOTED, Report
from tailrace_verify.leaves import ARCHIVED, RowsLeaf, VersionsLeaf
from tailrace_verify.plural import counted
from tailrace_verify.trust import Trust

CHECK = "archive"
DELETED = "deleted"
LAG = timedelta(hours=36)
"""How much older the newest proofs of an archive can be than a checkpoint, if each day has rows."""
Place = tuple[str, str]
"""Table and day."""


@dataclass(frozen=True)
class Newest:
    """The proofs with the largest checkpoint. `reached` is its last cosignature, or without a witness when
    the newest of their rows were stored."""

    folder: str
    leaves: int
    reached: str


@dataclass(frozen=True)
class _Recorded:
    """The newest record of an archived day."""

    version: int
    leaf: int
    state: str
    rows: int


def newest(folder: str, about: Mapping[str, object], leaves: Iterable[RowsLeaf]) -> Newest:
    """Returns the end of verified proofs; `about` is `Report.about`."""
    stored = max((leaf.ingested[1] for leaf in leaves if leaf.ingested), default="")
    return Newest(folder, int(about.get("leaves") or 0), str(about.get("cosigned_at") or stored))


def find_missing(
    leaves: Iterable[VersionsLeaf],
    found: Sequence[Day],
    deleted: Collection[Place],
    scope: Scope,
    report: Report,
) -> None:
    """Reports days that were archived, by the record of the log, and that this archive does not list."""
    listed = {(day.table, day.day) for day in found}
    for (table, day), each in sorted(_of_this_archive(leaves, listed).items()):
        is_there = (table, day) in listed or (table, day) in deleted or not each.rows
        if is_there or not check.is_inside(f"{day}T00:00:00Z", scope):
            continue
        place = {"table": table, "day": day, "leaf": each.leaf}
        rows = counted(each.rows, "archived row")
        if each.state == DELETED:
            report.add(NOTED, CHECK, f"the log records that {rows} were deleted", **place)
        else:
            report.incomplete(CHECK, f"{rows} that the log records are missing", **place)


def _of_this_archive(leaves: Iterable[VersionsLeaf], listed: Collection[Place]) -> dict[Place, _Recorded]:
    """Returns the newest records of the archive that has most of the listed days: an installation that moved
    to another archive has records of both."""
    by_root: dict[str, dict[Place, _Recorded]] = {}
    for leaf in leaves:
        for each in leaf.versions if leaf.table == ARCHIVED else ():
            table, _, day = each.key.rpartition("/")
            if each.state and (root := each.state[2].removesuffix(f"/{TABLES}/{table}")):
                known = by_root.setdefault(root, {})
                record = _Recorded(each.version, leaf.index, each.state[0], int(each.state[1]))
                known[table, day] = max(known.get((table, day), record), record, key=lambda one: one.version)
    shared = Counter({root: len(known.keys() & listed) for root, known in by_root.items()})
    return by_root[shared.most_common(1)[0][0]] if shared else {}


def check_coverage(newest_: Newest | None, scope: Scope, report: Report) -> None:
    """Reports the end of the period that the proofs do not reach. A day is archived after its end."""
    if scope.end is None or newest_ is None or not newest_.reached:
        return
    reached = moment(f"{newest_.reached[:10]}T00:00:00Z")
    if reached < scope.end:
        first = reached.strftime(check.FORM)
        report.uncovered.append((first, scope.end.strftime(check.FORM)))
        message = f"its proofs end at {newest_.reached}: later days are missing"
        report.incomplete(check.COVERAGE, message, day=first[:10], minute=first)


def is_one_of(data: bytes, own: Iterable[bytes]) -> bool:
    """Whether a checkpoint is of the same tree as one of the archive."""
    tree = _tree(data)
    return tree is not None and tree in map(_tree, own)


def is_later(data: bytes, newest_: Newest) -> bool:
    """Whether a checkpoint is of a larger tree than the newest proofs; False for a malformed one."""
    tree = _tree(data)
    return tree is not None and tree.size > newest_.leaves


def _tree(data: bytes) -> notes.Checkpoint | None:
    try:
        return notes.parse_checkpoint(notes.parse(data).text)
    except notes.NoteError:
        return None


def compare_later(data: bytes, newest_: Newest, trust: Trust, report: Report) -> None:
    """Reports that the archive is older than a checkpoint of the auditor by more than LAG."""
    seen = log.checkpoint("your checkpoint", data, trust, report)
    if seen is None or not seen.is_verified:
        return
    more = counted(seen.checkpoint.size - newest_.leaves, "leaf", "leaves")
    message = f"the log has {more} after its newest proofs"
    place = {"leaf": newest_.leaves, "day": newest_.reached[:10]}
    at = log.shown(seen.time) if seen.time else ""
    if at and newest_.reached and moment(at) - moment(newest_.reached) <= LAG:
        report.add(NOTED, CHECK, f"{message} of {newest_.reached}", **place)
    else:
        until = at or "your checkpoint"
        text = f"{message} of {newest_.reached}: days until {until} are missing, or had no rows"
        report.undetermined(CHECK, text, **place)
