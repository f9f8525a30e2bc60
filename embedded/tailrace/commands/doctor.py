"""Runs collectors/capture's doctor, which parses its own arguments, `--help` too, and needs no stack."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from tailrace.commands import Context
from tailrace.settings import REPOSITORY

NAME = "doctor"
HELP = "say what keeps Tailrace from seeing a server, and how to mend it; needs no stack"


def execute(words: Sequence[str], context: Context) -> NoReturn:
    """Replaces this process by the doctor."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "collectors" / "capture")}
    command = [sys.executable, "-m", "tailrace_capture", NAME, "--sources", str(context.settings.sources)]
    os.execve(sys.executable, [*command, *words[1:]], environment)
