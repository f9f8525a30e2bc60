"""The contract between the supervisor and a component of the stack, such as Kafka, ClickHouse or Fluent Bit.

A component is one long-running operating-system process. To add one, write
`tailrace_local/components/<name>.py` with one subclass of `Component` and list it in
`tailrace_local/supervisor/assembly.py`. The life of a component:

    install(progress)   once per version, in the command of the user; several components in parallel. Puts
                        files into the cache (tailrace_local.supervisor.cache), never into the home.
    prepare()           before every start of the process: writes configuration under home.data(name). It
                        reads sources.yaml only through tailrace.sources.active_sources, and `reads` returns
                        the relevant part of the list.
    command()           the program to execute; environment() is added to the inherited one.
    health()            called about 5 times a second until healthy or `start_seconds` are over, then every
                        few seconds. Components that need this one start when it is healthy and provisioned.
    provision()         after each start, once healthy and before dependents start: creates objects *inside*
                        the component (topics, migrations, dashboards). Must be idempotent.
    stop_signal         sent to the process at an ordered stop; after `grace_seconds` the whole process group
                        is killed.

install, prepare, provision, health and version run in worker threads and may block. An exception of `prepare`
counts as a failed start; one of `provision` leaves the process running and is retried. Both have a back-off,
and `tailrace status` shows the message. The process's standard output and error go to logs/<name>.log, which
the supervisor rotates: let the component log there and not into other files. The process must stay in the
foreground, in its process group. The kernel kills it when the supervisor dies.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from signal import SIGTERM, Signals
from typing import ClassVar, Protocol

from tailrace import __version__
from tailrace.errors import ReportedError
from tailrace.programs.program import Health, Program
from tailrace.sources.sources_file import Listed


class Progress(Protocol):
    """Reports the steps of an installation. Safe to use from the thread of one component."""

    def report(self, doing: str) -> None:
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
    """A component could not be installed; the message contains the command and its failure."""


class Component(Program, ABC):
    """One supervised process. Subclasses set the class attributes and keep their constructor's signature."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Components that must be healthy and provisioned before this one is started; it is stopped before
    them."""

    feeds: ClassVar[tuple[str, ...]] = ()
    """Components that it delivers to, and whose outages it tolerates: it starts without them, and is stopped
    before them."""

    os_packages: ClassVar[Mapping[str, str]] = {}
    """Debian packages needed to install or run it: package → a path that exists if it is installed, such as
    `{"cmake": "/usr/bin/cmake"}`. If the user is root, missing ones are installed before `install`."""

    tools: ClassVar[tuple[str, ...]] = ()
    """Programs that must be on PATH, such as `java`, `mvn`, `npm`, `gcc`, `make`."""

    stop_signal: ClassVar[Signals] = SIGTERM
    grace_seconds: ClassVar[float] = 20
    """Time between the stop signal and SIGKILL."""

    start_seconds: ClassVar[float] = 180
    """A process that is not healthy by then is killed and counts as crashed."""

    provision_seconds: ClassVar[float] = 0
    """The interval at which `provision` is repeated while the component is healthy; 0: only at each start."""

    refresh_seconds: ClassVar[float] = 0
    """The interval of `refresh` while the component is healthy; 0: never."""

    checks_data_at_start: ClassVar[bool] = False
    """Whether a restart repairs the damage of a full disk: then it is restarted once there is free space
    again."""

    def check(self) -> None:
        """Raises an error if its configuration by the user is invalid; called before anything starts."""

    def reads(self, listed: Listed) -> object:
        """Returns its part of sources.yaml: it is restarted when the value changes."""
        return None

    @abstractmethod
    def installed(self) -> bool:
        """Returns whether `install` has nothing to do; must be cheap, because every start calls it."""

    @abstractmethod
    def install(self, progress: Progress) -> None:
        """Downloads and builds into the cache. Raises InstallError. Leaves no trace if it is killed."""

    @abstractmethod
    def command(self) -> Sequence[str | Path]:
        """The program and its arguments; the program by absolute path or found on PATH."""

    def ports(self) -> Mapping[str, int]:
        """Returns the TCP ports on 127.0.0.1 that must be free before the stack starts, by their purpose."""
        return {}

    def inotify_instances(self) -> int:
        """Returns the number of inotify instances that it takes, which the kernel limits per user. May raise
        an error."""
        return 0

    @abstractmethod
    def health(self) -> Health:
        """Returns HEALTHY or Health.failing("reason"). Takes at most a second; an exception counts as
        failing."""

    def problem(self) -> str:
        """Returns a problem that an operator must solve although the component works, in one short clause, or
        an empty text. It makes the component unhealthy without a restart. Takes at most a second; an
        exception counts as failing."""
        return ""

    def metrics(self) -> str:
        """Returns the component's metrics in Prometheus' text format, or an empty text. Takes at most some
        seconds. Raises OSError or another error."""
        return ""

    def provision(self) -> None:
        """Creates objects inside the component before others use it. Idempotent."""

    def refresh(self) -> None:
        """Does what must follow changes inside the component. Exceptions are ignored; see `problem`."""

    @abstractmethod
    def version(self) -> str:
        """Returns the running version, from the component itself if possible; called once per start."""

    @abstractmethod
    def address(self) -> str:
        """Returns its address for users, such as `http://127.0.0.1:18081`; a file or `-` if it does not
        listen."""


class PythonComponent(Component):
    """A component that runs a module of Tailrace with this Python: it has nothing to install."""

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python and what bin/tailrace needs."""

    def version(self) -> str:
        return __version__
