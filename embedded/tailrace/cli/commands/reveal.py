"""Reveals the name behind a pseudonym, or the pseudonym of a name.

Each call is recorded with reason and person before it is answered. To reveal a name you need the private key
of the vault. Keep it away from the machine of the stack, with the people who may read names: without it,
nobody can reveal a name there.
"""

import argparse
import getpass
from pathlib import Path

from tailrace import console
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit

HELP = "show the name behind a pseudonym; needs the vault's private key and a reason"
EXAMPLES = (
    'tailrace reveal p1-user-0f3e4a3c9d0d9a4fe1f0a0016a4a9d60 --reason "alert 4711" --key vault.pem',
    'tailrace reveal user:etl --reason "search for its rows, case 2026-17"',
)
EXIT_CODES = {
    1: "the name was erased or is unknown, or the key does not open it",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace erase", "docs/ERASURE.md")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subject", metavar="SUBJECT", help="a pseudonym, or user:NAME or client:ADDRESS")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why; never deleted")
    parser.add_argument("--actor", default="", metavar="NAME", help="your name (default: your login name)")
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="private key of the vault (default: secrets/subject-vault-private.pem of the home directory)",
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    from tailrace.erasure import erasing, vault
    from tailrace.erasure.pseudonyms import is_pseudonym, subject
    from tailrace.retention import holds

    auditor = context.clickhouse(holds.ACCOUNT)
    order = erasing.Order(arguments.actor or getpass.getuser(), arguments.reason)
    if not is_pseudonym(arguments.subject):
        wanted = subject(arguments.subject, vault.pseudonyms(context.home))
        erasing.record_look(auditor, wanted, order)
        print(wanted.pseudonym)
        return Exit.OK
    file = arguments.key or context.home.secrets / vault.PRIVATE_KEY
    if not file.is_file():
        raise CommandError(f"the private key of the vault is not {file}; name its file with --key")
    admin = context.clickhouse("admin")
    print(console.plain(erasing.reveal(admin, auditor, file.read_bytes(), arguments.subject, order)))
    return Exit.OK
