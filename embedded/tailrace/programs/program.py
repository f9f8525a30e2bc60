"""What the programs of an installation have in common: settings, configuration files, and a state of health.

In a container or a Kubernetes pod `tailrace.deployment` configures and starts a program. On one machine the
supervisor does so, for which the package tailrace_local completes each program to a component.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tailrace.config.home import Home
from tailrace.config.settings import Settings


@dataclass(frozen=True)
class Health:
    """Whether a program serves, and if not, why not in one short clause."""

    ok: bool
    reason: str = ""

    @classmethod
    def failing(cls, reason: object) -> "Health":
        return cls(False, str(reason))


HEALTHY = Health(True)


class Program:
    """One program of one installation. Subclasses keep the signature of the constructor."""

    name: ClassVar[str]
    """Also the name of its log, its data directory and of it in commands: lower case, no spaces."""

    def __init__(self, settings: Settings, home: Home) -> None:
        self.settings = settings
        self.home = home

    def configured(self) -> bool:
        """Whether it has something to do: if not, it runs only where TAILRACE_PARTS names it."""
        return True

    def prepare(self) -> None:
        """Writes configuration and whatever else the process needs at start."""

    def environment(self) -> Mapping[str, str]:
        """Variables added to the inherited environment, which holds no TAILRACE_* names."""
        return {}
