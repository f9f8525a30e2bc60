"""Checks what Performance Schema offers of servers in a list, for `tailrace doctor --source`: prints JSON."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from tailrace_capture import targets
from tailrace_capture.doctor import checks
from tailrace_capture.doctor.command import PROGRAM, STATEMENT_SECONDS, unreachable
from tailrace_capture.doctor.examination import examine
from tailrace_capture.doctor.finding import ERROR, Finding, in_order
from tailrace_capture.doctor.host import Host
from tailrace_capture.doctor.optional_kinds import performance_schema
from tailrace_capture.dsn import DsnError
from tailrace_capture.server import ServerError
from tailrace_capture.service import Target


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__
    parser.add_argument("--servers", type=Path, required=True, metavar="FILE", help="JSON list of servers")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command. Raises ConfigurationError."""
    found = [
        {**finding.to_json(), "message": f"{target.identity.instance} server: {finding.message}"}
        for target in targets.from_file(arguments.servers)
        for finding in in_order(list(check(target)))
    ]
    print(json.dumps(found))
    return 0


def check(target: Target) -> Iterator[Finding]:
    """Yields what was found about the account and the optional kinds of a server."""
    try:
        server = target.connect(STATEMENT_SECONDS, PROGRAM)
        try:
            seen = examine(server, Host(), optional=target.optional)
        finally:
            server.close()
    except DsnError as error:
        yield Finding(ERROR, "connection", str(error), ("# correct the entry in sources.yaml",))
    except ServerError as error:
        yield unreachable(target.dsn.where if target.dsn else "", error)
    else:
        yield from checks.permissions(seen)
        yield from performance_schema(seen)
