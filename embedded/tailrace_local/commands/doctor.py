"""Lists what prevents Tailrace from reading a log or a server, with a fix for each problem.

Without --server it checks the logs of sources.yaml. It needs no running stack, but reports that none runs.
For each log that the component pull reads from a service it shows the last visit, or the missing permission.
With --source it checks the logs of one server. It also asks their service, with the credentials of this
machine, and names the setting or the permission that is missing. If sources.yaml lists the server itself, it
checks the account, and what Performance Schema must note for `digests`, `digest_histograms` and
`metadata_locks`.

With --server it connects to a database server and examines its settings, permissions and logs; nothing is
changed there. The password comes from --password-file, from TAILRACE_SERVER_PASSWORD or from a prompt. Run it
on the server's machine, so that it can also check files, disk space and logrotate. --write adds the server
and its logs to sources.yaml. All options except --source, --output and --json need --server.
"""

import argparse
import dataclasses
import importlib
import os
import sys
import textwrap
import time
from collections.abc import Sequence
from typing import NoReturn

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.cli.help import catalog
from tailrace.config.resources import ROOT
from tailrace.sources import active_sources
from tailrace_local.doctor import logs as log_diagnosis
from tailrace_local.doctor import pulled as pulled_diagnosis
from tailrace_local.doctor import service_check
from tailrace_local.doctor.logs import LogDiagnosis
from tailrace_local.doctor.service_check import Checked

HELP = "list what prevents Tailrace from reading a log or a server, with fixes"
EXAMPLES = (
    "tailrace doctor",
    "tailrace doctor --source shop-db-2",
    "tailrace doctor --server 'mysql://tailrace@localhost/?socket=/run/mysqld/mysqld.sock' \\\n"
    "      --password-file secret",
    "tailrace doctor --server mysql://tailrace@localhost/ --write --instance shop-db-1 --cluster shop",
    "tailrace doctor --output json | jq -r '.findings[].message'",
)
EXIT_CODES = {0: "no error; with --strict also no warning", 1: "Tailrace cannot read everything"}
SEE_ALSO = ("tailrace status", "tailrace health", "docs/CAPTURE.md", "docs/PULL.md")
KEYS = {
    "": {
        "severity": "error; with --source also warning, unknown, ok; with --server also warning, info, ok",
        "topic": "subject of the check: logs, service, and with --server connection, permissions and others",
        "message": "the problem",
        "fix": "the fix; with --server a list of lines",
    }
}

NAME = "doctor"
CAPTURE = ROOT / "collectors" / "capture"
SEVERITY, TOPIC, SERVICE = "error", "logs", "service"
NOT_READ = Checked("unknown", "no stack is running: no puller reads this server's logs", "tailrace up")
"""No error: `tailrace pull --once` and `digest` read the logs without a stack."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the server's doctor, which collectors/capture defines: it also runs alone."""
    if str(CAPTURE) not in sys.path:
        sys.path.append(str(CAPTURE))
    importlib.import_module("tailrace_capture.doctor.command").configure(parser)
    parser.add_argument("--source", default="", metavar="INSTANCE", help="check the logs of one server")
    parser.description = parser.epilog = None
    for action in parser._actions:
        action.required = False


def execute(words: Sequence[str], context: Context) -> Exit:
    """Checks the logs, or replaces this process by the server's doctor."""
    parser = catalog.parser(NAME, sys.modules[__name__])
    arguments = parser.parse_args(words[1:])
    if arguments.server and arguments.source:
        parser.error("--source and --server exclude each other")
    if arguments.server:
        _check_server(words[1:], context)
    needs_server = {**vars(arguments), "output": output.TABLE, "source": ""}
    for name, value in needs_server.items():
        if value != parser.get_default(name):
            parser.error(f"--{name.replace('_', '-')} needs --server DSN")
    return _check_logs(arguments, context)


def _check_logs(arguments: argparse.Namespace, context: Context) -> Exit:
    seen = log_diagnosis.diagnose(context, arguments.source)
    checked = _ask_service(arguments.source, seen, context) if arguments.source else []
    rows = [{"severity": SEVERITY, "topic": TOPIC, **finding.to_json()} for finding in seen.findings]
    rows += [{"topic": SERVICE, **dataclasses.asdict(each)} for each in checked]
    if arguments.output == output.JSON:
        states = [dataclasses.asdict(log) for log in seen.pulled]
        document = {"sources": str(seen.file), "logs": len(seen.logs), "pulled": states, "findings": rows}
        output.write_json(document)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[""], rows)
    else:
        _show(seen, checked)
    is_wrong = seen.findings or any(each.severity == SEVERITY for each in checked)
    return Exit.FAILED if is_wrong else Exit.OK


def _ask_service(instance: str, seen: LogDiagnosis, context: Context) -> list[Checked]:
    """Raises CommandError if sources.yaml lists nothing of the server, and SourcesError if it is invalid."""
    listed = active_sources.active_or_listed(context.settings, context.home)
    servers = [server for server in listed.servers if server.instance == instance]
    if not (seen.logs or seen.pulled or servers):
        raise CommandError(f"{seen.file} lists neither a log of {instance} nor the server")
    checked = service_check.check([log for log in listed.pulled if log.instance == instance])
    checked += service_check.check_servers(servers)
    if seen.is_of_services and not seen.is_running:
        checked.append(NOT_READ)
    return checked


def _show(seen: LogDiagnosis, checked: Sequence[Checked]) -> None:
    wrong = [each for each in checked if each.severity == SEVERITY]
    for finding in (*seen.findings, *wrong):
        print(f"{console.styled(SEVERITY, console.RED):<8} {finding.message}")
        print(_indented(finding.fix))
    found = {finding.message for finding in seen.findings}
    now = time.time()
    for log in seen.pulled:
        line = pulled_diagnosis.described(log, now)
        if line not in found and (log.is_read(now) or NOT_READ not in checked):
            print(f"{'ok' if log.is_read(now) else 'unknown':<8} {line}")
    for each in checked:
        if each.severity != SEVERITY:
            print(f"{each.severity:<8} {each.message}", *filter(None, [_indented(each.fix)]), sep="\n")
    count = console.number([*seen.findings, *wrong], SEVERITY)
    print(f"{console.number([*seen.logs, *seen.pulled], 'log')} listed in {seen.file}, {count}")


def _indented(fix: str) -> str:
    return textwrap.indent(fix, " " * 9)


def _check_server(words: Sequence[str], context: Context) -> NoReturn:
    environment = {**os.environ, "PYTHONPATH": str(CAPTURE)}
    command = [sys.executable, "-m", "tailrace_capture", NAME, "--sources", str(context.settings.sources)]
    os.execve(sys.executable, [*command, *words], environment)
