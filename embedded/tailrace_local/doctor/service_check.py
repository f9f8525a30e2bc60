"""Checks logs of a service, and captured servers, with the credentials of this machine: `check` of
`tailrace_pull` and of `tailrace_capture`."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from tailrace import console
from tailrace.cli.context import CommandError
from tailrace.programs import capture, pull
from tailrace.sources.sources_file import PulledSource, Server

TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Checked:
    """One result. The texts contain no control codes."""

    severity: str
    """error, warning, unknown or ok."""
    message: str
    fix: str
    """Lines."""


def check(logs: Sequence[PulledSource]) -> list[Checked]:
    """Asks the services. Raises CommandError if the check itself fails."""
    return _checked("tailrace_pull", "--logs", pull.PROGRAMS, pull.listed(logs)) if logs else []


def check_servers(servers: Sequence[Server]) -> list[Checked]:
    """Asks the captured servers for what their entries name. Raises CommandError if the check itself
    fails."""
    if not servers:
        return []
    return _checked("tailrace_capture", "--servers", str(capture.PROGRAM), capture.listed(servers))


def _checked(module: str, option: str, programs: str, listed: str) -> list[Checked]:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(listed)
        file.flush()
        done = subprocess.run(
            [sys.executable, "-m", module, "check", option, file.name],
            env={**os.environ, "PYTHONPATH": programs},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    try:
        found = json.loads(done.stdout)
    except ValueError:
        raise CommandError(f"the check failed: {console.plain(done.stderr.strip())}") from None
    return [
        Checked(console.plain(each["severity"]), console.plain(each["message"]), _lines(each["fix"]))
        for each in found
    ]


def _lines(fix: str | list[str]) -> str:
    return "\n".join(map(console.plain, [fix] if isinstance(fix, str) else fix))
