"""Starts the stack: checks the machine, installs missing components, starts the supervisor, awaits health."""

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.errors import NotRunningError, ReportedError
from tailrace.migrations import runner as migration_runner
from tailrace.sources import sources_file
from tailrace_local import preflight
from tailrace_local.stack import daemon
from tailrace_local.stack.assembly import assemble
from tailrace_local.supervisor import control
from tailrace_local.supervisor.control import ComponentStatus, StackStatus
from tailrace_local.supervisor.install import LoggedProgress, install_missing
from tailrace_local.supervisor.process_manager import State

Show = Callable[[str, str], None]
"""Called with a component's name and its current step."""

TRIES = 3
"""A component that has ended this often before it was ever healthy counts as failed."""
LAST_LINES = 8
PATIENCE_SECONDS = 420
"""A timeout for components that cannot be provisioned; all are healthy long before."""


class StartError(ReportedError):
    """A component did not start; the message contains the reason and the last lines of its log."""


def install(settings: Settings, home: Home, show: Show) -> None:
    """Checks files and machine, then installs missing components.

    Raises SourcesError, RetentionError, ConfigurationError, PreflightError, InstallError.
    """
    components = assemble(settings, home)
    for component in components:
        component.check()
    sources_file.make_empty(settings.sources)
    sources_file.load(settings.sources)
    migration_runner.load_retention()
    preflight.check(components, settings, home)
    preflight.install_packages(components, LoggedProgress("packages", home.log("install-packages"), show))
    install_missing(components, home, show)


def install_again(names: Sequence[str], settings: Settings, home: Home, show: Show) -> None:
    """Installs those of the named components whose sources have changed. Raises PreflightError,
    InstallError."""
    components = [component for component in assemble(settings, home) if component.name in names]
    if findings := preflight.missing_tools(components):
        raise preflight.PreflightError("\n".join(findings))
    install_missing(components, home, show)


def start_stack(settings: Settings, home: Home, show: Show, names: Collection[str] = ()) -> StackStatus:
    """Starts the stack if it is stopped, and returns its healthy status. After a failure nothing runs.

    With names, returns when these components are healthy; the others go on starting.

    Raises PreflightError, InstallError, DaemonError, StartError.
    """
    try:
        return await_health(home, show, names)
    except NotRunningError:
        pass
    install(settings, home, show)
    daemon.spawn(settings, home)
    try:
        return await_health(home, show, names)
    except StartError:
        control.stop(home)
        raise


def await_health(home: Home, show: Show, names: Collection[str] = ()) -> StackStatus:
    """Shows the steps of the components until all are healthy, or those with these names. Raises
    NotRunningError, StartError."""
    shown: dict[str, str] = {}
    restarts: dict[str, int] = {}
    was_healthy: set[str] = set()
    deadline = time.monotonic() + PATIENCE_SECONDS
    for status in control.follow(home):
        for component in status.components:
            _show_change(component, shown, show)
            restarts.setdefault(component.name, component.restarts)
        was_healthy.update(component.name for component in status.components if component.is_healthy)
        needed = [each for each in status.components if not names or each.name in names]
        if all(component.is_healthy for component in needed):
            return status
        for component in needed:
            tried = component.restarts - restarts[component.name]
            hopeless = tried >= TRIES and component.name not in was_healthy
            if hopeless or (not component.is_healthy and time.monotonic() > deadline):
                raise StartError(_why(component, home.log(component.name)))
    raise NotRunningError("the stack was stopped meanwhile; start it with: tailrace up")


def _show_change(component: ComponentStatus, shown: dict[str, str], show: Show) -> None:
    now = _description(component)
    before = shown.get(component.name)
    shown[component.name] = now
    if now != before and not (before is None and component.is_healthy):
        show(component.name, now)


def _description(component: ComponentStatus) -> str:
    """Omits the reason of a starting component, which changes every second and matters only if it stays."""
    is_state_enough = component.state == State.STARTING or not component.reason
    return component.state if is_state_enough else f"{component.state} ({component.reason})"


def _why(component: ComponentStatus, log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:] if log.exists() else []
    last = "".join(f"\n    {line}" for line in lines)
    reason = component.reason or component.last_failure
    return f"{component.name} does not start: {reason}; its log {log} ends with:{last}"
