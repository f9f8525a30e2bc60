"""The log files of an instance of Amazon RDS or Aurora.

Source: API version 2014-10-31, DescribeDBLogFiles and DownloadDBLogFilePortion.
"""

import re
from typing import Any

from tailrace_pull import aws, xml_answers
from tailrace_pull.remote import START, Portion, RemoteFile

FIRST_MARKER = "0"
DATA = "LogFileData"
"""The member of an answer that is the portion."""

MARKER = re.compile(r"([0-9]+):([0-9]+)")
"""The form of a marker in which the second number is an offset. Other forms are passed on unread."""

CUT = b"[Your log message was truncated]"
"""Stands at the end of a portion from which the service left out bytes, possibly with line feeds."""
CUT_BYTES = 64
"""The last bytes of a portion, among which it is."""

MILLIS = 1000

LIVE_FILES = {
    "slowlog": "slowquery/mysql-slowquery.log",
    "general": "general/mysql-general.log",
    "errorlog": "error/mysql-error-running.log",
    "audit": "audit/server_audit.log",
}
"""The live file of each kind of log, unless sources.yaml names another one."""


EVERY = "*"
"""The end of a name that means each file whose name begins so, such as `audit/audit.log.*` of Aurora. Aurora
distributes audit records among four files, and begins new ones after 100 MB or an hour."""


class RdsLogs:
    """The files of one log: the live file, and those with its name and a suffix. Or all files whose names
    begin with a prefix."""

    def __init__(self, client: Any, db_instance: str, live: str) -> None:
        """`client` is one of boto3 for `rds`; `live` is a name such as `slowquery/mysql-slowquery.log`, or a
        prefix and `*`."""
        self._client = xml_answers.with_bytes(client, "DownloadDBLogFilePortion", DATA)
        self._db_instance = db_instance
        self._live = live.removesuffix(EVERY)
        self.is_renamed = not live.endswith(EVERY)

    def files(self) -> list[RemoteFile]:
        found = [file for file in self._listed() if self._belongs(file.name)]
        return sorted(found, key=lambda file: (self.is_live(file.name), file.written_at, file.name))

    def is_live(self, name: str) -> bool:
        return name == self._live or not self.is_renamed

    def read(self, name: str, position: str, lines: int | None = None) -> Portion:
        marker = FIRST_MARKER if position == START else position
        answer = self._ask(
            "DownloadDBLogFilePortion",
            LogFileName=name,
            Marker=marker,
            **({} if lines is None else {"NumberOfLines": lines}),
        )
        data = answer.get(DATA) or b""
        if isinstance(data, str):
            data = data.encode()
        is_cut = data[-CUT_BYTES:].rstrip(b"\n").endswith(CUT)
        if is_cut:
            data = data.rstrip(b"\n")[: -len(CUT)]
        after = _next_marker(answer.get("Marker"), marker, data, is_cut)
        return Portion(data, after, not answer.get("AdditionalDataPending"), is_cut, end=_offset(after))

    def further(self, position: str, size: int) -> str | None:
        known = MARKER.fullmatch(position)
        return f"{known[1]}:{int(known[2]) + size}" if known else None

    def _belongs(self, name: str) -> bool:
        prefix = f"{self._live}." if self.is_renamed else self._live
        return name == self._live or name.startswith(prefix)

    def _listed(self) -> list[RemoteFile]:
        listed: list[RemoteFile] = []
        page: dict = {}
        while True:
            answer = self._ask("DescribeDBLogFiles", FilenameContains=self._live, **page)
            listed += [
                RemoteFile(each["LogFileName"], each.get("Size", 0), each.get("LastWritten", 0) / MILLIS)
                for each in answer.get("DescribeDBLogFiles", ())
            ]
            if not answer.get("Marker"):
                return listed
            page = {"Marker": answer["Marker"]}

    def _ask(self, operation: str, **parameters: object) -> dict:
        name = self._db_instance
        return aws.ask(self._client, operation, name, DBInstanceIdentifier=name, **parameters)


def _next_marker(answered: str | None, asked: str, data: bytes, is_cut: bool) -> str | None:
    """Returns the marker behind the portion. At the end of a file the service may answer 0, which would be
    the start: then it is computed, if the marker has a known form and no bytes were left out."""
    if answered and answered != FIRST_MARKER:
        return answered
    known = MARKER.fullmatch(asked)
    return f"{known[1]}:{int(known[2]) + len(data)}" if known and not is_cut else None


def _offset(marker: str | None) -> int | None:
    known = MARKER.fullmatch(marker or "")
    return int(known[2]) if known else None
