"""With --server runs collectors/capture's doctor, which parses its own arguments and needs no stack. Without
it lists the problems that prevent Tailrace from reading the logs of sources.yaml."""

import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from tailrace.cli import console
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.config.resources import ROOT
from tailrace_local.doctor import logs as log_diagnosis

NAME = "doctor"
OF_LOGS = ([NAME], [NAME, "--json"])
"""Options of the check of logs; all others belong to the server's doctor."""


def execute(words: Sequence[str], context: Context) -> Exit:
    """Checks the logs, or replaces this process by the server's doctor."""
    return _check_logs(list(words), context) if list(words) in OF_LOGS else _check_server(words, context)


def _check_logs(words: list[str], context: Context) -> Exit:
    seen = log_diagnosis.diagnose(context)
    if "--json" in words:
        findings = [finding.to_json() for finding in seen.findings]
        print(json.dumps({"sources": str(seen.file), "logs": len(seen.logs), "findings": findings}, indent=2))
    else:
        for finding in seen.findings:
            print(f"{console.styled('error', console.RED):<8} {finding.message}")
            print(f"         {finding.fix}")
        count = console.number(seen.findings, "error")
        print(f"{console.number(seen.logs, 'log')} listed in {seen.file}, {count}")
    return Exit.FAILED if seen.findings else Exit.OK


def _check_server(words: Sequence[str], context: Context) -> NoReturn:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "collectors" / "capture")}
    command = [sys.executable, "-m", "tailrace_capture", NAME, "--sources", str(context.settings.sources)]
    os.execve(sys.executable, [*command, *words[1:]], environment)
