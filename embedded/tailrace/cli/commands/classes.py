"""Proposes data classes for the columns of a server, for a person to confirm. Nothing is changed.

The names of all columns that the account may see are compared with a list of words. With --sample it also
reads that many rows of each table and recognizes card numbers, bank accounts, e-mail addresses, phone
numbers, password hashes and the national ids of twelve countries by their check digits or form. No value is
printed or stored. A column without a proposal may contain such data, too.

The password comes from --password-file, from TAILRACE_SERVER_PASSWORD or from a prompt. The account needs
SELECT on the tables. A sample reads the first rows of a table, for 10 seconds at most.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.config.resources import ROOT
from tailrace.programs import capture

HELP = "propose data classes for the columns of a server"
EXAMPLES = (
    "tailrace classes propose --server mysql://tailrace@db-1/ --password-file secret",
    "tailrace classes propose --server mysql://tailrace@db-1/ --sample 200 --output yaml > proposed.yaml",
    "tailrace classes propose --server mysql://tailrace@db-1/ --strict   # exits 1 if a column is new",
)
EXIT_CODES = {1: "no connection, or with --strict a column that is in no class and not excluded"}
SEE_ALSO = ("tailrace rules push", "tailrace doctor", "docs/DATA-CLASSES.md")
KEYS = {
    "propose": {
        "data_class": "class, such as pii",
        "pattern": "the column as a pattern of data-classes.yaml",
        "kind": "kind of data, such as card number",
        "basis": "name, values, or name and values",
        "tried": "distinct values of the sample; null without a finding in a sample",
        "matching": "number of these values that are valid for this kind; null as above",
        "state": "new; with --all also covered (the file contains it) and excluded (the file excludes it)",
    }
}
YAML = "yaml"
CLASSES = ROOT / "rules" / "data-classes.yaml"


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    proposing = commands.add_parser("propose", help="list columns that may belong to a class")
    proposing.add_argument(
        "--server", required=True, metavar="DSN", help="the server: mysql://user@host:port/?socket=…"
    )
    proposing.add_argument("--password-file", type=Path, metavar="FILE", help="the account's password")
    proposing.add_argument(
        "--database", action="append", default=[], metavar="NAME", help="only this database; repeatable"
    )
    proposing.add_argument(
        "--sample",
        type=int,
        default=0,
        metavar="ROWS",
        help="also read this many rows of each table (default: 0)",
    )
    proposing.add_argument(
        "--data-classes",
        type=Path,
        default=CLASSES,
        metavar="FILE",
        help="the classes that exist (default: data-classes.yaml of the rules)",
    )
    proposing.add_argument(
        "--all", action="store_true", help="also columns that the file contains or excludes"
    )
    proposing.add_argument("--strict", action="store_true", help="exit 1 if a column is new")
    proposing.add_argument(
        "--output",
        choices=(*output.FORMATS, YAML),
        default=output.TABLE,
        metavar="FORMAT",
        help="table, json, csv, or yaml: lines for data-classes.yaml (default: table)",
    )
    proposing.add_argument(
        "--json", dest="output", action="store_const", const=output.JSON, help="the same as --output json"
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    words = ["--server", arguments.server, "--data-classes", arguments.data_classes]
    if arguments.password_file:
        words += ["--password-file", arguments.password_file]
    for database in arguments.database:
        words += ["--database", database]
    words += ["--sample", str(arguments.sample), "--output", arguments.output]
    words += [f"--{name}" for name in ("all", "strict") if getattr(arguments, name)]
    done = subprocess.run(
        [sys.executable, "-m", "tailrace_capture", "classes", *words],
        env={**os.environ, "PYTHONPATH": str(capture.PROGRAM)},
        check=False,
    )
    return {0: Exit.OK, 2: Exit.USAGE}.get(done.returncode, Exit.FAILED)
