"""Installs missing components in parallel, and prints the steps."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from tailrace.config.home import Home
from tailrace_local.supervisor.component import Component, InstallError

LAST_LINES = 5


class LoggedProgress:
    """The Progress of one component: prints short lines, and logs the commands' output to
    logs/install-<component>.log."""

    def __init__(self, component: str, log: Path, show: Callable[[str, str], None]) -> None:
        self._component = component
        self._log = log
        self._show = show
        self._log.write_bytes(b"")

    def report(self, doing: str) -> None:
        self._show(self._component, doing)

    def run(
        self,
        command: Sequence[str | Path],
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        words = [str(word) for word in command]
        with self._log.open("ab") as output:
            output.write(f"$ {' '.join(words)}\n".encode())
            output.flush()
            code = _exit_code(words, cwd, {**os.environ, **(environment or {})}, output)
        if code != 0:
            raise InstallError(
                f"`{' '.join(words)}` failed ({code}):\n{self._tail()}\nall of it: {self._log}"
            )

    def _tail(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return "\n".join(f"    {line}" for line in lines[-LAST_LINES:])


def install_missing(components: Sequence[Component], home: Home, show: Callable[[str, str], None]) -> None:
    """Installs missing components in parallel; calls `show(component, step)` for each step. Raises
    InstallError with every component's failure, after all have ended."""
    missing = [component for component in components if not component.installed()]
    show = _serialised(show)
    if not missing:
        return
    with ThreadPoolExecutor(max_workers=len(missing)) as threads:
        results = [threads.submit(_install, component, home, show) for component in missing]
    failures = [str(error) for result in results if (error := result.exception())]
    if failures:
        raise InstallError("\n".join(failures))


def _install(component: Component, home: Home, show: Callable[[str, str], None]) -> None:
    began = time.monotonic()
    try:
        component.install(LoggedProgress(component.name, home.log(f"install-{component.name}"), show))
    except (InstallError, OSError) as error:
        raise InstallError(f"{component.name} could not be installed: {error}") from error
    show(component.name, f"installed in {time.monotonic() - began:.0f} s")


def _serialised(show: Callable[[str, str], None]) -> Callable[[str, str], None]:
    lock = threading.Lock()

    def show_one(component: str, doing: str) -> None:
        with lock:
            show(component, doing)

    return show_one


def _exit_code(words: list[str], cwd: Path | None, environment: Mapping[str, str], output: BinaryIO) -> int:
    try:
        return subprocess.run(
            words, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ).returncode
    except FileNotFoundError:
        raise InstallError(f"there is no program {words[0]}") from None
