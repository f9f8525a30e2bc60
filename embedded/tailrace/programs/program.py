"""The common base of an installation's programs: settings, configuration files, and health.

In a container or a Kubernetes pod `tailrace.deployment` configures and starts a program. On one machine the
supervisor does so: the package tailrace_local extends each program to a component.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tailrace.config.home import Home
from tailrace.config.resources import PYTHON_PATH
from tailrace.config.settings import Settings


@dataclass(frozen=True)
class Health:
    """Whether a program works, and if not, the reason in one short clause."""

    ok: bool
    reason: str = ""

    @classmethod
    def failing(cls, reason: object) -> "Health":
        return cls(False, str(reason))


HEALTHY = Health(True)
STUCK_SECONDS = 900
"""The age of a heartbeat at which a process is stuck: a query may wait for 300 s, several times in a row."""


class Program:
    """One program of one installation. Subclasses must not change the signature of the constructor."""

    name: ClassVar[str]
    """The name of its log and data directory, and its name in commands: lower case, no spaces."""

    def __init__(self, settings: Settings, home: Home) -> None:
        self.settings = settings
        self.home = home

    def configured(self) -> bool:
        """Whether it has work to do: if not, it runs only if TAILRACE_COMPONENTS lists it."""
        return True

    def prepare(self) -> None:
        """Writes configuration and other files that the process needs at its start."""

    def environment(self) -> Mapping[str, str]:
        """Returns variables to add to the inherited environment, which contains no TAILRACE_* names."""
        return {}

    def health(self) -> Health:
        """Returns whether the program does its work, which may depend on other servers."""
        raise NotImplementedError

    def liveness(self) -> Health:
        """Returns whether its process works, by default its health: if it does not, a restart may help.

        A program that waits for another server works.
        """
        return self.health()

    def _liveness_by_heartbeat(self, none_yet: str) -> Health:
        """Returns whether the heartbeat file is recent; see `_health_by_heartbeat`."""
        try:
            silent = time.time() - json.loads(self._heartbeat().read_text())["at"]
        except FileNotFoundError:
            return Health.failing(none_yet)
        return HEALTHY if silent <= STUCK_SECONDS else Health.failing(f"no heartbeat for {silent:.0f} s")

    def _health_by_heartbeat(self, none_yet: str, longest_silence: float) -> Health:
        """Returns the health by the keys `at` (seconds since 1970 UTC) and `problem` of the heartbeat file.

        `none_yet` is the reason before the first heartbeat; `longest_silence` its maximum age in seconds.
        """
        try:
            heartbeat = json.loads(self._heartbeat().read_text())
        except FileNotFoundError:
            return Health.failing(none_yet)
        silent = time.time() - heartbeat["at"]
        if heartbeat["problem"] or silent > longest_silence:
            return Health.failing(heartbeat["problem"] or f"no heartbeat for {silent:.0f} s")
        return HEALTHY

    def _lasting_problem(self, seconds: float) -> str:
        """Returns the key `unsolved` of the heartbeat file if it has been set for longer than `seconds`.

        The key `since` is the time of its first occurrence, in seconds since 1970 UTC.
        """
        try:
            heartbeat = json.loads(self._heartbeat().read_text())
        except FileNotFoundError:
            return ""
        is_lasting = time.time() - heartbeat["since"] > seconds
        return heartbeat["unsolved"] if heartbeat["unsolved"] and is_lasting else ""

    def _heartbeat(self) -> Path:
        """The file that its process writes regularly, if it writes one: `health` depends on its age."""
        return self.home.data(self.name) / "beat"


class ModuleProgram(Program):
    """A program that runs a module of this package, as `python -m tailrace.NAME`."""

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PYTHON_PATH)}
