"""Runs a witness of transparency logs, on another machine than the log.

A witness cosigns a checkpoint only if the log's last one is a prefix of it. It therefore detects a log that
went back or that shows two histories. It needs neither a stack nor access to data. `tailrace up` also starts
one on the same machine, which protects less: a user who controls that machine controls both.
"""

import argparse

from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit

HELP = "run a witness that cosigns checkpoints of transparency logs"
EXAMPLES = (
    "tailrace witness serve --directory /var/lib/tailrace-witness --name witness.example.com/w1 "
    "--log log.vkey --bind 10.0.0.7 --port 18092",
)
EXIT_CODES = {1: "a key or the state cannot be read"}
SEE_ALSO = ("tailrace transparency", "docs/TRANSPARENCY.md")


def configure(parser: argparse.ArgumentParser) -> None:
    from tailrace.witness.__main__ import add_arguments

    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    add_arguments(commands.add_parser("serve", help="answer POST /add-checkpoint until SIGTERM"))


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    from tailrace.witness import __main__ as witness

    try:
        witness.serve(arguments)
    except ValueError as error:
        raise CommandError(str(error)) from None
    return Exit.OK
