"""The process of the puller, which tests kill."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from e2e.limits import LIMIT_SECONDS
from tailrace.kafka.client import KafkaClient
from tailrace.programs import pull
from tailrace_signing import keys


class Puller:
    """The process, with its list and its heartbeat file."""

    _made: ClassVar[list["Puller"]] = []

    def __init__(
        self,
        kafka: KafkaClient,
        directory: Path,
        endpoint: str,
        log: Mapping[str, str],
        is_signing: bool = True,
    ) -> None:
        self.beat = directory / "beat"
        listed = directory / "logs.json"
        listed.write_text(json.dumps([{**log, "endpoint": endpoint}]))
        self._command = [
            *(sys.executable, "-m", "tailrace_pull", "run", "--name", "e2e", "--logs", listed),
            *("--kafka", kafka.address, "--heartbeat-file", self.beat),
            *(("--key", directory / "key") if is_signing else ()),
        ]
        self.key = keys.create(directory / "key")
        self._process: subprocess.Popen | None = None
        self._made.append(self)

    def start(self) -> None:
        assert not self._process or self._process.poll() is not None, "it still runs"
        self.beat.unlink(missing_ok=True)
        self._process = subprocess.Popen(
            self._command,
            env={
                **os.environ,
                "PYTHONPATH": pull.PROGRAMS,
                "AWS_ACCESS_KEY_ID": "id",
                "AWS_SECRET_ACCESS_KEY": "unused",
            },
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            assert self._process.wait(LIMIT_SECONDS) == 0
        finally:
            self._process.kill()

    @classmethod
    def end_all(cls) -> None:
        """Kills those that a failed test has left."""
        for each in cls._made:
            if each._process and each._process.poll() is None:
                each.kill()
        cls._made.clear()

    def age(self, seconds: float) -> None:
        """Makes the last report older."""
        report = json.loads(self.beat.read_text())
        report["since"] -= seconds
        for log in report["logs"]:
            log["at"] -= seconds
        self.beat.write_text(json.dumps(report))

    def bytes(self) -> int:
        if not self.beat.exists():
            return 0
        (log,) = json.loads(self.beat.read_text())["logs"]
        return log["bytes"]
