"""Checks logs of a service with the credentials of this machine: `python -m tailrace_pull check`."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from tailrace import console
from tailrace.cli.context import CommandError
from tailrace.programs import pull
from tailrace.sources.sources_file import PulledSource

TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Checked:
    """One result. The texts contain no control codes."""

    severity: str
    """error, unknown or ok."""
    message: str
    fix: str


def check(logs: Sequence[PulledSource]) -> list[Checked]:
    """Asks the services. Raises CommandError if the check itself fails."""
    if not logs:
        return []
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        listed.write(pull.listed(logs))
        listed.flush()
        done = subprocess.run(
            [sys.executable, "-m", "tailrace_pull", "check", "--logs", listed.name],
            env={**os.environ, "PYTHONPATH": pull.PROGRAMS},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    try:
        found = json.loads(done.stdout)
    except ValueError:
        raise CommandError(f"the check failed: {console.plain(done.stderr.strip())}") from None
    return [Checked(*(console.plain(each[key]) for key in ("severity", "message", "fix"))) for each in found]
