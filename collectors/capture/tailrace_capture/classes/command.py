"""The command: connects, proposes, prints. It changes nothing, and prints no value of a column."""

import argparse
import csv
import json
import sys
from pathlib import Path

from tailrace_capture.classes import patterns, proposals
from tailrace_capture.classes.proposals import NEW, Proposal, Proposals
from tailrace_capture.dsn import DsnError, parse, password_of
from tailrace_capture.server import ServerError, connect
from tailrace_capture.targets import ConfigurationError

PROGRAM = "tailrace-classes"
STATEMENT_SECONDS = 10.0
TABLE, JSON, CSV, YAML = "table", "json", "csv", "yaml"
KEYS = ("data_class", "pattern", "kind", "basis", "tried", "matching", "state")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", required=True, metavar="DSN", help="mysql://user@host:port/")
    parser.add_argument("--password-file", type=Path, metavar="FILE", help="the account's password")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="rows to read from each table")
    parser.add_argument("--database", action="append", default=[], metavar="NAME", help="only this database")
    parser.add_argument("--data-classes", type=Path, metavar="FILE", help="the classes that exist")
    parser.add_argument("--all", action="store_true", help="also columns that the file contains or excludes")
    parser.add_argument("--strict", action="store_true", help="exit 1 if a column is new")
    parser.add_argument("--output", choices=(TABLE, JSON, CSV, YAML), default=TABLE)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code. Raises ConfigurationError."""
    known = patterns.read(arguments.data_classes) if arguments.data_classes else patterns.DataClasses()
    try:
        dsn, password = parse(arguments.server), password_of(arguments.password_file, ask=True)
    except DsnError as error:
        raise ConfigurationError(str(error)) from None
    try:
        server = connect(dsn, password, STATEMENT_SECONDS, PROGRAM)
    except ServerError as error:
        print(f"{dsn.where}: {error.status}: {error}", file=sys.stderr)
        return 1
    try:
        found = proposals.propose(server, known, arguments.sample, arguments.database)
    except ServerError as error:
        print(f"{dsn.where}: {error.status}: {error}", file=sys.stderr)
        return 1
    finally:
        server.close()
    shown = [proposal for proposal in found.found if arguments.all or proposal.state == NEW]
    _print(arguments.output, shown, dsn.where)
    _print_extent(found, bool(arguments.sample))
    return 1 if arguments.strict and any(proposal.state == NEW for proposal in found.found) else 0


def _print(form: str, shown: list[Proposal], where: str) -> None:
    if form == JSON:
        print(json.dumps([_row(proposal) for proposal in shown], indent=2))
    elif form == CSV:
        writer = csv.DictWriter(sys.stdout, KEYS)
        writer.writeheader()
        writer.writerows(_row(proposal) for proposal in shown)
    elif form == YAML:
        _print_yaml(shown, where)
    else:
        _print_table(shown)


def _row(proposal: Proposal) -> dict[str, object]:
    return {
        "data_class": proposal.data_class,
        "pattern": patterns.pattern(proposal.column),
        "kind": proposal.kind,
        "basis": proposal.basis,
        "tried": proposal.tried,
        "matching": proposal.matching,
        "state": proposal.state,
    }


def _print_table(shown: list[Proposal]) -> None:
    rows = [("class", "column", "data", "suggested by", "state")]
    rows += [
        (
            proposal.data_class,
            _plain(patterns.pattern(proposal.column)),
            proposal.kind,
            _basis(proposal),
            proposal.state,
        )
        for proposal in sorted(shown, key=lambda each: (each.data_class, patterns.pattern(each.column)))
    ]
    widths = [max(len(row[cell]) for row in rows) for cell in range(len(rows[0]))]
    for row in rows if len(rows) > 1 else []:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def _print_yaml(shown: list[Proposal], where: str) -> None:
    """Prints a part of data-classes.yaml, with the reason of each line as a comment."""
    print(f"# Proposed from {where}. Delete wrong lines; add the others to data-classes.yaml.")
    print("classes:" if shown else "classes: {}")
    for data_class in sorted({proposal.data_class for proposal in shown}):
        print(f"  {data_class}:\n    patterns:")
        of_class = {patterns.pattern(each.column): each for each in shown if each.data_class == data_class}
        for pattern, proposal in sorted(of_class.items()):
            print(f"      - {json.dumps(pattern)}  # {proposal.kind}: {_basis(proposal)}")


def _basis(proposal: Proposal) -> str:
    if proposal.tried is None:
        return proposal.basis
    return f"{proposal.basis} ({proposal.matching} of {proposal.tried})"


def _print_extent(found: Proposals, is_sampled: bool) -> None:
    """Reports on standard error how much was examined."""
    covered = sum(proposal.state != NEW for proposal in found.found)
    text = f"columns examined by name: {found.columns}"
    if is_sampled:
        text += f"; tables with examined values: {found.sampled_tables}"
    if covered:
        text += f"; proposals that the file contains already (--all shows them): {covered}"
    print(text, file=sys.stderr)
    for table, reason in found.refused.items():
        print(f"unknown: {_plain(table)} could not be sampled: {_plain(reason)}", file=sys.stderr)


def _plain(text: str) -> str:
    """Names and messages come from the server: no control codes for the terminal."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
