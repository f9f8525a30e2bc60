"""Reveals the name behind a pseudonym, or the pseudonym of a name.

You need a token with the scope names:reveal, which an administrator creates for you. Each call is recorded
with reason and person, the owner of the token, before it is answered. To reveal a name you also need the
private key of the vault. Keep it away from the machine of the stack, with the people who may read names:
without it, nobody can reveal a name there.
"""

import argparse
from pathlib import Path

from tailrace import console
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit

HELP = "show the name behind a pseudonym; needs a token, the vault's private key and a reason"
EXAMPLES = (
    "tailrace tokens create --owner ann --role compliance --scope names:reveal > ann.token",
    'tailrace reveal p1-user-0f3e4a3c9d0d9a4fe1f0a0016a4a9d60 --token-file ann.token --reason "alert 4711"',
    'tailrace reveal user:etl --token-file ann.token --reason "search for its rows, case 2026-17"',
)
EXIT_CODES = {
    1: "the token does not permit it, the name was erased or is unknown, or the key does not open it",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace tokens", "tailrace erase", "docs/ERASURE.md")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subject", metavar="SUBJECT", help="a pseudonym, or user:NAME or client:ADDRESS")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why; never deleted")
    parser.add_argument(
        "--token-file",
        type=Path,
        required=True,
        metavar="FILE",
        help="your token with the scope names:reveal; its owner is recorded",
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="private key of the vault (default: secrets/subject-vault-private.pem of the home directory)",
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    from tailrace.erasure import erasing, revealing, vault
    from tailrace.erasure.pseudonyms import is_pseudonym, of_pseudonym, subject

    person = revealing.Person(_token(arguments.token_file), arguments.reason)
    revealer = context.clickhouse(revealing.ACCOUNT)
    if not is_pseudonym(arguments.subject):
        wanted = subject(arguments.subject, vault.pseudonyms(context.secrets))
        erasing.require_no_name(wanted, person.reason)
        revealing.record(revealer, wanted, person)
        print(wanted.pseudonym)
        return Exit.OK
    key = _read(arguments.key or context.secrets / vault.PRIVATE_KEY, "the private key of the vault")
    wanted = of_pseudonym(arguments.subject)
    print(console.plain(revealing.reveal(revealer, key, wanted, person)))
    return Exit.OK


def _token(file: Path) -> str:
    try:
        return _read(file, "your token").decode("ascii").strip()
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{file} has no token: it has a byte that is not ASCII at offset {error.start}"
        ) from error


def _read(file: Path, what: str) -> bytes:
    if not file.is_file():
        raise CommandError(f"{what} is not {file}; name its file with an option")
    return file.read_bytes()
