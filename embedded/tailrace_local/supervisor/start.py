"""Brings the stack up: checks the machine, installs what is missing, starts the supervisor, awaits health."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tailrace.cli.context import NotRunningError
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.migrations import runner as migration_runner
from tailrace.sources import sources_file
from tailrace_local import preflight
from tailrace_local.supervisor import control, daemon
from tailrace_local.supervisor.assembly import assemble
from tailrace_local.supervisor.control import ComponentStatus, StackStatus
from tailrace_local.supervisor.install import LoggedProgress, install_missing
from tailrace_local.supervisor.process_manager import State

Show = Callable[[str, str], None]
"""Called with a part's name and what it does now."""

TRIES = 3
"""A part that has ended so often before it was ever healthy will not come up by itself."""
LAST_LINES = 8
PATIENCE_SECONDS = 420
"""All parts together are healthy long before; a part that cannot be provisioned never is."""


class StartError(RuntimeError):
    """A part did not come up; the message has its reason and the last lines of its log."""


def install(settings: Settings, home: Home, show: Show) -> None:
    """Checks files and machine, then installs what is missing.

    Raises SourcesError, RetentionError, ConfigurationError, PreflightError, InstallError.
    """
    parts = assemble(settings, home)
    for part in parts:
        part.check()
    sources_file.make_empty(settings.sources)
    sources_file.load(settings.sources)
    migration_runner.load_retention()
    preflight.check(parts, settings, home)
    preflight.install_packages(parts, LoggedProgress("packages", home.log("install-packages"), show))
    install_missing(parts, home, show)


def install_again(names: Sequence[str], settings: Settings, home: Home, show: Show) -> None:
    """Installs those of the named parts whose sources have changed. Raises PreflightError, InstallError."""
    parts = [part for part in assemble(settings, home) if part.name in names]
    if findings := preflight.missing_tools(parts):
        raise preflight.PreflightError("\n".join(findings))
    install_missing(parts, home, show)


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
    """Shows what the parts do until all are healthy. Raises NotRunningError, StartError."""
    shown: dict[str, str] = {}
    restarts: dict[str, int] = {}
    was_healthy: set[str] = set()
    deadline = time.monotonic() + PATIENCE_SECONDS
    for status in control.follow(home):
        for part in status.parts:
            _show_change(part, shown, show)
            restarts.setdefault(part.name, part.restarts)
        was_healthy.update(part.name for part in status.parts if part.is_healthy)
        if status.is_healthy:
            return status
        for part in status.parts:
            tried = part.restarts - restarts[part.name]
            hopeless = tried >= TRIES and part.name not in was_healthy
            if hopeless or (not part.is_healthy and time.monotonic() > deadline):
                raise StartError(_why(part, home.log(part.name)))
    raise NotRunningError("the stack was stopped meanwhile")


def _show_change(part: ComponentStatus, shown: dict[str, str], show: Show) -> None:
    now = _what_it_does(part)
    before = shown.get(part.name)
    shown[part.name] = now
    if now != before and not (before is None and part.is_healthy):
        show(part.name, now)


def _what_it_does(part: ComponentStatus) -> str:
    """While a part starts its reason changes by the second, and is of interest only if it stays."""
    quiet = part.state == State.STARTING or not part.reason
    return part.state if quiet else f"{part.state} ({part.reason})"


def _why(part: ComponentStatus, log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:] if log.exists() else []
    last = "".join(f"\n    {line}" for line in lines)
    reason = part.reason or part.last_failure
    return f"{part.name} does not come up: {reason}; its log {log} ends with:{last}"
