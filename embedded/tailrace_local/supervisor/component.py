"""What a component of the stack is: the contract between the supervisor and Kafka, ClickHouse, Fluent Bit, …

A component is one long-running operating-system process. To add one, write
`tailrace_local/components/<name>.py` with one subclass of `Component` and list it in
`tailrace_local/supervisor/assembly.py`. The life of a component:

    install(progress)   once per version, in the command that the user typed; several components in parallel.
                        Puts files into the cache (tailrace_local.supervisor.cache), never into the home.
    prepare()           before every start of the process: writes configuration under home.data(name). What it
                        takes of sources.yaml it takes from tailrace.sources.active_sources, and `reads` says
                        what that is.
    command()           the program to execute, environment() added to the inherited one.
    health()            asked about 5 times a second until healthy or `start_seconds` are over, then every few
                        seconds. Components that need this one are started when it is healthy and provisioned.
    provision()         after each start, once healthy and before dependents start: what must exist *inside*
                        the component (topics, migrations, dashboards). Must be idempotent.
    stop_signal         sent to the process at an ordered stop; after `grace_seconds` the whole process group
                        is killed.

install, prepare, provision, health and version run in worker threads and may block. An exception of `prepare`
counts as a failed start; one of `provision` leaves the process running and is retried; both with back-off,
the text shown by `tailrace status`. The process's standard output and error go to logs/<name>.log, rotated by
the supervisor: let the component log there and not into files of its own. The process must stay in the
foreground, in the process group that it is given. The kernel kills it when the supervisor dies.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from signal import SIGTERM, Signals
from typing import ClassVar, Protocol

from tailrace.errors import ReportedError
from tailrace.programs.program import Health, Program
from tailrace.sources.sources_file import Listed


class Progress(Protocol):
    """Where an installation says what it does. Safe to use from the thread of one component."""

    def say(self, doing: str) -> None:
        """Shows one short line, such as `building Fluent Bit 1.8.15`."""

    def run(
        self,
        command: Sequence[str | Path],
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Runs a command, output to logs/install-<component>.log.

        `environment` is added to the inherited one. Raises InstallError with the command and its last lines
        if it does not exit with 0.
        """


class InstallError(ReportedError):
    """A component could not be installed; the message says what was tried and how it failed."""


class Component(Program, ABC):
    """One supervised process. Subclasses set the class attributes and keep their constructor's signature."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Components that must be healthy and provisioned before this one is started; it is stopped before
    them."""

    feeds: ClassVar[tuple[str, ...]] = ()
    """Components that it delivers to and does without for a while: it starts whether they run or not, and is
    stopped before them."""

    os_packages: ClassVar[Mapping[str, str]] = {}
    """Debian packages needed to install or run it: package → a path that proves it is there, such as
    `{"cmake": "/usr/bin/cmake"}`. Missing ones are installed before `install` when the user is root."""

    tools: ClassVar[tuple[str, ...]] = ()
    """Programs that must be on PATH, such as `java`, `mvn`, `npm`, `gcc`, `make`."""

    stop_signal: ClassVar[Signals] = SIGTERM
    grace_seconds: ClassVar[float] = 20
    """Time between the stop signal and SIGKILL."""

    start_seconds: ClassVar[float] = 180
    """A process that is not healthy by then is killed and counts as crashed."""

    checks_data_at_start: ClassVar[bool] = False
    """Whether a start mends what a full disk broke: then it is started anew once there is room again."""

    def check(self) -> None:
        """Raises an error of its own if what the user wrote for it cannot be used; before anything starts."""

    def reads(self, listed: Listed) -> object:
        """What it takes of sources.yaml: it is restarted when that has changed."""
        return None

    @abstractmethod
    def installed(self) -> bool:
        """Whether `install` has nothing to do; cheap, because it is asked at every start."""

    @abstractmethod
    def install(self, progress: Progress) -> None:
        """Downloads and builds into the cache. Raises InstallError. Killed half-way it leaves no trace."""

    @abstractmethod
    def command(self) -> Sequence[str | Path]:
        """The program and its arguments; the program by absolute path or found on PATH."""

    def ports(self) -> Mapping[str, int]:
        """TCP ports on 127.0.0.1 that must be free before the stack starts: what listens → port."""
        return {}

    def inotify_instances(self) -> int:
        """How many it takes; the kernel gives each user a number of them. Raises an error of its own."""
        return 0

    @abstractmethod
    def health(self) -> Health:
        """HEALTHY or Health.failing("why"). Takes a second at most; an exception counts as failing."""

    def problem(self) -> str:
        """What somebody must do although the component serves, in one short clause; empty if nothing. It
        makes the component unhealthy without being started anew. Takes a second at most; an exception counts
        as failing."""
        return ""

    def metrics(self) -> str:
        """What the running component tells of itself, in Prometheus' text format; empty if nothing. Takes
        some seconds at most. Raises OSError or an error of its own."""
        return ""

    def provision(self) -> None:
        """Makes what must exist inside the component before others use it. Idempotent."""

    @abstractmethod
    def version(self) -> str:
        """The version of what runs, as the component itself tells it where it can; asked once per start."""

    @abstractmethod
    def address(self) -> str:
        """Where a person finds it, such as `http://127.0.0.1:18081`; a file or `-` if it does not listen."""
