"""The contiguity of signed ranges in each log file of a host.

A file is known by instance, kind of log and inode: rotation changes the path, and the head hash changes until
the file has 4,096 bytes.
"""

from collections.abc import Mapping

from tailrace_verify.findings import NOTED, Report

CHECK = "bytes of log files"
Place = dict[str, object]


class RangesOfFiles:
    """The newest range of each file of one chain. Records are added in the order of their sequence."""

    def __init__(self, is_whole: bool, report: Report) -> None:
        self.is_whole, self.report = is_whole, report
        self._newest: dict[tuple[object, ...], tuple[int, int, bool]] = {}

    def add(self, payload: Mapping[str, object], **place: object) -> None:
        """Adds a range; records of other kinds, such as rotations of keys, have no `from`."""
        if "from" not in payload:
            return
        start, end, closed = payload.get("from"), payload.get("to"), payload.get("closed") is True
        where = {
            "host": payload["host"],
            **{name: payload.get(name) for name in ("path", "from", "to")},
            **place,
        }
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            self.report.tampered(CHECK, "no byte range", **where)
            return
        file = tuple(payload.get(name) for name in ("cluster", "instance", "source", "inode"))
        before = self._newest.get(file)
        self._newest[file] = (start, end, closed)
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
