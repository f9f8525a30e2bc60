"""Brings the stack up: checks the machine, installs what is missing, starts the supervisor, awaits health."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tailrace.cli.context import NotRunningError
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.errors import ReportedError
from tailrace.migrations import runner as migration_runner
from tailrace.sources import sources_file
from tailrace_local import preflight
from tailrace_local.supervisor import control, daemon
from tailrace_local.supervisor.assembly import assemble
from tailrace_local.supervisor.control import ComponentStatus, StackStatus
from tailrace_local.supervisor.install import LoggedProgress, install_missing
from tailrace_local.supervisor.process_manager import State

Show = Callable[[str, str], None]
"""Called with a component's name and what it does now."""

TRIES = 3
"""A component that has ended so often before it was ever healthy will not come up by itself."""
LAST_LINES = 8
PATIENCE_SECONDS = 420
"""All components together are healthy long before; a component that cannot be provisioned never is."""


class StartError(ReportedError):
    """A component did not come up; the message has its reason and the last lines of its log."""


def install(settings: Settings, home: Home, show: Show) -> None:
    """Checks files and machine, then installs what is missing.

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


def start_stack(settings: Settings, home: Home, show: Show) -> StackStatus:
    """The running, healthy stack; starts it if it does not run. Nothing is left running if it fails.

    Raises PreflightError, InstallError, DaemonError, StartError.
    """
    try:
        return await_health(home, show)
    except NotRunningError:
        pass
    install(settings, home, show)
    daemon.spawn(settings, home)
    try:
        return await_health(home, show)
    except StartError:
        control.stop(home)
        raise


def await_health(home: Home, show: Show) -> StackStatus:
    """Shows what the components do until all are healthy. Raises NotRunningError, StartError."""
    shown: dict[str, str] = {}
    restarts: dict[str, int] = {}
    was_healthy: set[str] = set()
    deadline = time.monotonic() + PATIENCE_SECONDS
    for status in control.follow(home):
        for component in status.components:
            _show_change(component, shown, show)
            restarts.setdefault(component.name, component.restarts)
        was_healthy.update(component.name for component in status.components if component.is_healthy)
        if status.is_healthy:
            return status
        for component in status.components:
            tried = component.restarts - restarts[component.name]
            hopeless = tried >= TRIES and component.name not in was_healthy
            if hopeless or (not component.is_healthy and time.monotonic() > deadline):
                raise StartError(_why(component, home.log(component.name)))
    raise NotRunningError("the stack was stopped meanwhile")


def _show_change(component: ComponentStatus, shown: dict[str, str], show: Show) -> None:
    now = _what_it_does(component)
    before = shown.get(component.name)
    shown[component.name] = now
    if now != before and not (before is None and component.is_healthy):
        show(component.name, now)


def _what_it_does(component: ComponentStatus) -> str:
    """While a component starts its reason changes by the second, and is of interest only if it stays."""
    quiet = component.state == State.STARTING or not component.reason
    return component.state if quiet else f"{component.state} ({component.reason})"


def _why(component: ComponentStatus, log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:] if log.exists() else []
    last = "".join(f"\n    {line}" for line in lines)
    reason = component.reason or component.last_failure
    return f"{component.name} does not come up: {reason}; its log {log} ends with:{last}"
