"""Exports evidence for an auditor as one signed file, and verifies such a file without any server.

For each requirement of the framework, the bundle contains the query, all rows of its result as CSV and
Parquet, and its limits. It also contains the coverage of the period, reviews, a report as HTML and PDF, and a
signed manifest. A date without a time means its start for --from and its end for --to; times are UTC. Each
export is recorded.

`verify` prints the differences between a bundle and what was exported.
"""

import argparse
import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path

from tailrace import console
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.evidence import framework
from tailrace.evidence.period import Period, PeriodError
from tailrace.plural import counted

HELP = "export signed evidence for an auditor, or verify it"
EXAMPLES = (
    "tailrace evidence --framework pci --from 2026-10-01 --to 2026-10-31 -o evidence.zip",
    "tailrace evidence verify evidence.zip --public-key auditee.pem",
    "tailrace evidence key > auditee.pem         # the public key, for auditors",
)
EXIT_CODES = {
    0: "the bundle was written; with verify: it is unchanged",
    1: "the export failed; with verify: the file differs, or is no bundle",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace verify", "tailrace review", "tailrace ledger", "docs/COMPLIANCE.md")
OPTIONS = ("framework", "first", "end", "output")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--framework", choices=framework.names(), help="the framework of the evidence")
    parser.add_argument("--from", dest="first", metavar="TIME", help="a date or time, UTC")
    parser.add_argument("--to", dest="end", metavar="TIME", help="a date, time or `now`")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the file to write; must not exist")
    parser.add_argument("--actor", metavar="NAME", help="your name (default: your login name)")
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND")
    verify = commands.add_parser("verify", help="check a bundle, without any server")
    verify.add_argument("file", type=Path, metavar="FILE", help="the bundle")
    verify.add_argument(
        "--public-key",
        type=Path,
        metavar="PEM",
        help="the exporter's public key, from another source than the bundle",
    )
    commands.add_parser(
        "key", help="print this installation's public key, and its fingerprint to standard error"
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    doing = {"verify": _verify, "key": _key}
    return doing.get(arguments.doing, _export)(arguments, context)


def _export(arguments: argparse.Namespace, context: Context) -> Exit:
    try:
        period = _period(arguments)
    except PeriodError as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return Exit.USAGE
    # Imported here: signing and drawing would cost every other command a third of a second.
    from tailrace.evidence import signing
    from tailrace.evidence.export import ACCOUNT, EvidenceError, Exporter
    from tailrace.evidence.results import ResultError

    steps = console.Steps(sys.stderr)
    actor = (arguments.actor or "").strip() or getpass.getuser()
    clickhouse = context.clickhouse(ACCOUNT)
    exporter = Exporter(
        clickhouse,
        signing.installation_key(context.home),
        actor,
        lambda step: steps.show("evidence", step),
        context.home.root,
    )
    try:
        done = exporter.export(framework.load(arguments.framework), period, arguments.output)
    except (EvidenceError, ResultError) as error:
        raise CommandError(str(error)) from error
    for warning in done.warnings:
        print(console.plain(f"note: {warning}"))
    print(f"{arguments.output}: {counted(done.files, 'file')}, {counted(done.rows, 'row')}, {period}")
    print(f"manifest    {done.manifest_sha256}")
    print(f"signed with {done.key_fingerprint}")
    return Exit.OK


def _period(arguments: argparse.Namespace) -> Period:
    missing = [name for name in OPTIONS if not getattr(arguments, name)]
    if missing:
        options = {"framework": "--framework", "first": "--from", "end": "--to", "output": "--output"}
        raise PeriodError(f"evidence needs {', '.join(options[name] for name in missing)}")
    return Period.parse(arguments.first, arguments.end, datetime.now(UTC))


def _verify(arguments: argparse.Namespace, context: Context) -> Exit:
    from tailrace.evidence import signing
    from tailrace_verify.evidence import verify

    key = None
    if arguments.public_key:
        try:
            key = signing.read_public(arguments.public_key.read_bytes())
        except signing.SigningKeyError as error:
            print(f"tailrace: {arguments.public_key}: {error}", file=sys.stderr)
            return Exit.USAGE
    found = verify(arguments.file, key)
    for fault in found.faults:
        print(console.plain(fault))
    if found.faults:
        print(f"{arguments.file}: differs from the export, {len(found.faults)} faults")
        return Exit.FAILED
    about = found.about
    print(f"{arguments.file}: unchanged since its export, {counted(found.files, 'file')}")
    print(
        console.plain(f"exported by {about['exported_by']} at {about['exported_at']}, {about['framework']}")
    )
    print(f"manifest    {found.manifest_sha256}")
    print(f"signed with {found.key_fingerprint}")
    if found.key_from_bundle:
        print(
            "note: that key came with the bundle, so anybody can have signed it; compare its fingerprint, or"
        )
        print("      give --public-key with the key that the exporter gave you before")
    return Exit.OK


def _key(arguments: argparse.Namespace, context: Context) -> Exit:
    from tailrace.evidence import signing

    key = signing.installation_key(context.home)
    print(f"fingerprint {signing.fingerprint(key.public_key())}", file=sys.stderr)
    print(signing.public_pem(key).decode(), end="")
    return Exit.OK
