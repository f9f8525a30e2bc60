"""The contiguity of signed ranges in each log file of a host.

A file is known by instance, kind of log and inode: rotation changes the path, and the head hash changes until
the file has 4,096 bytes.
"""

import re
from collections.abc import Mapping

from tailrace_verify.findings import NOTED, Report

CHECK = "bytes of log files"
HASH = re.compile(r"[0-9a-f]{64}")
Place = dict[str, object]


def first_byte(payload: Mapping[str, object]) -> object:
    """Returns the start of what a payload signs: ranges that follow each other, or one."""
    return payload.get("earlier_from", payload.get("from"))


def _is_range(payload: Mapping[str, object]) -> bool:
    """Returns whether the offsets of a record are numbers in order, and earlier ranges have a root."""
    start, last, end = first_byte(payload), payload.get("from"), payload.get("to")
    if [type(each) for each in (start, last, end)] != [int] * 3 or not 0 <= start <= last <= end:
        return False
    if "earlier_from" not in payload:
        return "earlier_root" not in payload
    return start < last and HASH.fullmatch(str(payload.get("earlier_root"))) is not None


class RangesOfFiles:
    """The newest record of each file of one chain. Records are added in the order of their sequence."""

    def __init__(self, is_whole: bool, report: Report) -> None:
        self.is_whole, self.report = is_whole, report
        self._newest: dict[tuple[object, ...], tuple[int, int, bool]] = {}
        """Start and end of the last range, and whether it is closed."""

    def add(self, payload: Mapping[str, object], **place: object) -> None:
        """Adds a record of ranges; other kinds, such as rotations of keys, have no `from`."""
        if "from" not in payload:
            return
        last, end, closed = payload.get("from"), payload.get("to"), payload.get("closed") is True
        start = first_byte(payload)
        where = {
            "host": payload["host"],
            "path": payload.get("path"),
            "from": start,
            "to": end,
            **place,
        }
        if not _is_range(payload):
            self.report.tampered(CHECK, "no byte range", **where)
            return
        file = tuple(payload.get(name) for name in ("cluster", "instance", "source", "inode"))
        before = self._newest.get(file)
        self._newest[file] = (last, end, closed)
        self.report.counts["bytes"] += end - start
        if before is None:
            self._check_first(start, payload, where)
        else:
            self._check_next(before, start, end, payload, where)

    def _check_first(self, start: int, payload: Mapping[str, object], where: Place) -> None:
        if start and self.is_whole:
            where |= {"from": 0, "to": start}
            self.report.missing(CHECK, f"bytes 0 to {start} are not signed", payload, **where)

    def _check_next(
        self,
        before: tuple[int, int, bool],
        start: int,
        end: int,
        payload: Mapping[str, object],
        where: Place,
    ) -> None:
        known, reached, closed = before
        if start == known and end >= reached and not closed:
            self.report.counts["bytes"] -= reached - known
        elif start == reached and closed:
            return
        elif start == 0:
            if not closed:
                self.report.counts["files that began again"] += 1
                message = f"the file began again at byte 0 after byte {reached}: it was truncated"
                self.report.add(NOTED, CHECK, message, **where)
        elif start > reached:
            where |= {"from": reached, "to": start}
            self.report.missing(CHECK, f"bytes {reached} to {start} are not signed", payload, **where)
        else:
            self.report.tampered(CHECK, f"bytes {start} to {end} overlap those up to {reached}", **where)
