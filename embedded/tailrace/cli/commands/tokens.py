"""Manages the tokens of the REST API, with which programs read logs and handle alerts (docs/REST.md).

A token belongs to an owner and a role, has scopes and an expiry, and never changes. It is printed once, when
it is created; only its SHA-256 is stored. Tokens and their revocations are never deleted.
"""

import argparse
import getpass
import re
import sys
from datetime import UTC, datetime

from tailrace import console
from tailrace.api import tokens
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit

HELP = "create, list and revoke tokens of the REST API"
EXAMPLES = (
    "tailrace tokens create --owner soar --role security --scope alerts:read --scope alerts:write",
    "tailrace tokens list",
    'tailrace tokens revoke 3fa9 --reason "its owner has left"',
)
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("docs/REST.md", "docs/ROLES.md")
KEYS = {
    "list": {
        "id": "id of the token, 32 hexadecimal digits",
        "owner": "the person or program that uses it, and the actor of its actions",
        "role": "developer, compliance or security",
        "scopes": "its permissions, separated by commas",
        "state": "valid, expired or revoked",
        "created_at": "time of the creation, UTC",
        "created_by": "who created it",
        "created_because": "the reason that was given; empty without one",
        "expires_at": "end of its validity, UTC",
        "revoked_by": "person who revoked it; empty if it is not revoked",
        "last_used_at": "time of its last request, UTC; null if there is none",
        "requests": "number of its requests",
    }
}
DEFAULT_DAYS = 90
SHORT_ID = 8


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    _configure_create(commands.add_parser("create", help="create a token, and print it once"))
    output.add_option(commands.add_parser("list", help="list tokens with their state and last use"))
    revoke = commands.add_parser("revoke", help="revoke a token; it is refused from the next request on")
    revoke.add_argument("id", metavar="ID", help="id of the token, or a prefix of it")
    revoke.add_argument("--reason", required=True, metavar="TEXT", help="why; never deleted")
    _add_actor(revoke)


def _configure_create(create: argparse.ArgumentParser) -> None:
    create.add_argument(
        "--owner",
        required=True,
        metavar="NAME",
        help="the person or program that uses it; actor of its actions",
    )
    create.add_argument("--role", required=True, choices=tokens.ROLES, help="whose rows it reads")
    create.add_argument(
        "--scope",
        dest="scopes",
        action="append",
        required=True,
        type=tokens.current_scope,
        choices=tuple(tokens.SCOPES),
        help="a permission of the token; repeat the option for several",
    )
    create.add_argument(
        "--expires",
        dest="days",
        type=_days,
        default=DEFAULT_DAYS,
        metavar="DAYS",
        help=f"validity in days, such as 30d, at most {tokens.MAX_DAYS}d (default: {DEFAULT_DAYS}d)",
    )
    create.add_argument("--reason", default="", metavar="TEXT", help="what it is for; never deleted")
    _add_actor(create)


def _add_actor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--actor", default="", metavar="NAME", help="your name (default: your login name)")


def _days(text: str) -> int:
    found = re.fullmatch(r"(\d{1,4})d?", text)
    if not found or not 1 <= int(found[1]) <= tokens.MAX_DAYS:
        raise argparse.ArgumentTypeError(f"expected days from 1d to {tokens.MAX_DAYS}d, found {text!r}")
    return int(found[1])


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    return {"create": _create, "list": _list, "revoke": _revoke}[arguments.doing](arguments, context)


def _create(arguments: argparse.Namespace, context: Context) -> Exit:
    wanted = tokens.Wanted(
        arguments.owner,
        arguments.role,
        arguments.scopes,
        arguments.days,
        _actor(arguments),
        arguments.reason,
    )
    secret, token = tokens.create(context.clickhouse(tokens.MANAGER), wanted, datetime.now(UTC))
    about = f"{token.id.hex[:SHORT_ID]}  {token.owner} as {token.role} until {token.expires_at:%F %R} UTC"
    print(console.plain(f"{about}; it is not shown again:"), file=sys.stderr)
    print(secret)
    return Exit.OK


def _actor(arguments: argparse.Namespace) -> str:
    return arguments.actor or getpass.getuser()


def _list(arguments: argparse.Namespace, context: Context) -> Exit:
    rows = [
        {**row, "scopes": ",".join(row["scopes"])}
        for row in tokens.listed(context.clickhouse(tokens.MANAGER))
    ]
    if arguments.output == output.JSON:
        output.write_json(rows)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS["list"], rows)
    elif rows:
        columns = ["id", "state", "owner", "role", "scopes", "expires (UTC)", "last used (UTC)", "requests"]
        console.table(columns, [_cells(row) for row in rows])
    else:
        print("there is no token")
    return Exit.OK


def _cells(row: dict[str, object]) -> list[str]:
    used = str(row["last_used_at"] or "never")[:16].replace("T", " ")
    expires = str(row["expires_at"])[:16].replace("T", " ")
    known = [row["state"], row["owner"], row["role"], row["scopes"], expires, used, row["requests"]]
    return [str(row["id"])[:SHORT_ID], *map(console.plain, known)]


def _revoke(arguments: argparse.Namespace, context: Context) -> Exit:
    id_ = tokens.revoke(context.clickhouse(tokens.MANAGER), arguments.id, _actor(arguments), arguments.reason)
    print(f"{id_[:SHORT_ID]} is revoked")
    return Exit.OK
