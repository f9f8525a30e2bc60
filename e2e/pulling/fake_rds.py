"""An RDS that keeps log files as the documentation of the real one says, and misbehaves as users report of
it.

It was written from API version 2014-10-31, not tested against the service.
"""

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from botocore import xform_name

from e2e.pulling.service_http import FaultError

BINARY = b"\1"
NOT_VIEWED = "should be downloaded instead of viewed"
"""The end of the answer to a portion with binary data, as users report it (aws/aws-cli#2197)."""
CUT = "[Your log message was truncated]"
FAULTS = (
    ("Throttling", 400),
    ("InternalFailure", 500),
    ("ServiceUnavailable", 503),
    ("ExpiredToken", 403),
    ("AccessDenied", 403),
)


@dataclass
class LogFile:
    content: bytearray = field(default_factory=bytearray)
    written_at: int = 0
    """Milliseconds."""


class FakeRds:
    """The log files of one instance; `handle` answers requests. Thread-safe."""

    def __init__(self, seed: int, portion_bytes: int, portion_lines: int, fault_rate: float = 0) -> None:
        self.files: dict[str, LogFile] = {}
        self.calls = 0
        self.between_calls: Callable[[], None] = lambda: None
        """What the server does between two requests: writes, rotates, removes files."""
        self.parameters = {"slow_query_log": "1", "log_output": "FILE", "general_log": None}
        """Parameters of the group `shop`; None if one is not set."""
        self.exports: list[str] = []
        """Kinds of logs that are published to CloudWatch Logs."""
        self.denied: set[str] = set()
        """Operations that the policy lacks."""
        self._random = random.Random(seed)
        self._portion_bytes = portion_bytes
        self.portion_lines = portion_lines
        self._fault_rate = fault_rate
        self._lock = threading.RLock()
        self._now = 1_795_000_000_000

    def write(self, name: str, content: bytes) -> None:
        with self._lock:
            file = self.files.setdefault(name, LogFile())
            file.content += content
            file.written_at = self._tick()

    def rename(self, name: str, to: str) -> None:
        """Renames a file; one of the new name is gone. A rename is no write."""
        with self._lock, suppress(KeyError):
            self.files[to] = self.files.pop(name)

    def remove(self, name: str) -> None:
        with self._lock:
            self.files.pop(name, None)

    def settle(self) -> None:
        """Ends the misbehaviour: no more faults, and nothing happens between calls."""
        self._fault_rate = 0
        self.between_calls = lambda: None

    def handle(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.calls += 1
            self.between_calls()
            if self._random.random() < self._fault_rate:
                raise FaultError(*self._random.choice(FAULTS)[:1], status=500)
            if operation in self.denied:
                raise FaultError("AccessDenied", status=403)
            return getattr(self, f"_{xform_name(operation)}")(parameters)

    def _tick(self) -> int:
        self._now += 1
        return self._now

    def _describe_db_instances(self, asked: dict) -> dict:
        group = {"DBParameterGroupName": "shop", "ParameterApplyStatus": "in-sync"}
        instance = {
            "DBInstanceIdentifier": asked["DBInstanceIdentifier"],
            "DBParameterGroups": [group],
            "EnabledCloudwatchLogsExports": self.exports,
        }
        return {"DBInstances": [instance]}

    def _describe_db_parameters(self, asked: dict) -> dict:
        names = sorted(self.parameters)
        start = int(asked.get("Marker", 0))
        page = [{"ParameterName": name, "ParameterValue": self.parameters[name]} for name in names[start:]]
        after = start + self._random.randint(1, 2)
        return {"Parameters": page[: after - start], "Marker": str(after) if after < len(names) else None}

    def _describe_db_log_files(self, asked: dict) -> dict:
        last = asked.get("Marker", "")
        names = sorted(
            name for name in self.files if asked.get("FilenameContains", "") in name and name > last
        )
        page = names[: self._random.randint(1, 3)]
        listed = [
            {
                "LogFileName": name,
                "Size": len(self.files[name].content),
                "LastWritten": self.files[name].written_at,
            }
            for name in page
        ]
        return {"DescribeDBLogFiles": listed, "Marker": page[-1] if len(page) < len(names) else None}

    def _download_db_log_file_portion(self, asked: dict) -> dict:
        file = self.files.get(asked["LogFileName"])
        if file is None:
            raise FaultError("DBLogFileNotFoundFault", asked["LogFileName"], 404)
        start = 0 if asked["Marker"] == "0" else int(asked["Marker"].split(":")[1])
        lines = min(asked.get("NumberOfLines", self.portion_lines), self.portion_lines)
        whole = self._up_to(file.content, start, lines)
        data = whole[: self._portion_bytes]
        if BINARY in data:
            raise FaultError("InvalidParameterValue", f"This file contains binary data and {NOT_VIEWED}.")
        text, end = data.decode(errors="replace"), start + len(data)
        if len(whole) > len(data) and self._random.random() < 0.5:
            text, end = text + CUT, start + len(whole)  # the rest of the lines is left out
        pending = end < len(file.content)
        is_quirk = not pending and self._random.random() < 0.3
        return {
            "LogFileData": text,
            "Marker": "0" if is_quirk else f"16:{end}",
            "AdditionalDataPending": pending,
        }

    def _up_to(self, content: bytearray, start: int, lines: int) -> bytes:
        end = start
        for _ in range(lines):
            found = content.find(b"\n", end)
            if found < 0:
                return bytes(content[start:])
            end = found + 1
        return bytes(content[start:end])
