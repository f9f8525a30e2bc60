"""Registers the public keys with which hosts sign their logs (docs/SIGNING.md).

Each host signs byte ranges of its logs with a private key that never leaves it. The normalize job verifies
them with the registered keys. The stack registers the key of its own machine itself. A key is never removed
from the list, because it proves what was signed before its revocation.
"""

import argparse
from dataclasses import asdict

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.errors import NotRunningError
from tailrace.signing import local_key, publication
from tailrace.signing.registry import HostKey, Registry

HELP = "register, list, revoke and rotate the keys with which hosts sign their logs"
EXAMPLES = (
    "tailrace keys add --host db-1 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "tailrace keys list",
    "tailrace keys revoke 21fe31df",
    "tailrace keys rotate            # the key of this machine",
)
SEE_ALSO = ("docs/SIGNING.md",)
KEYS = {
    "list": {
        "id": "id of the key, 16 hexadecimal digits",
        "host": "the host that signs with it",
        "public_key": "the raw Ed25519 public key in base64",
        "registered_at": "time of the registration, UTC",
        "replaces": "id of the key of the host before it; null without one",
        "revoked_at": "time of the revocation, UTC; null while it is valid",
    }
}
ACCOUNT = "keys"


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    add = commands.add_parser("add", help="register the public key of a host")
    add.add_argument("public_key", metavar="PUBLIC_KEY", help="as `census.py --create-key` prints it: base64")
    add.add_argument("--host", required=True, metavar="NAME", help="the name in its TAILRACE_HOST")
    add.add_argument("--replaces", default="", metavar="ID", help="the key of the host before it")
    output.add_option(commands.add_parser("list", help="list the keys of all hosts"))
    revoke = commands.add_parser("revoke", help="revoke a key: Tailrace does not accept its later signatures")
    revoke.add_argument("id", metavar="ID", help="id of the key, or a prefix of it")
    commands.add_parser("rotate", help="replace the key of this machine; the old one signs the change")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    registry = Registry(context.home)
    if arguments.doing == "list":
        return _list(arguments, registry)
    changed = {"add": _add, "revoke": _revoke, "rotate": _rotate}[arguments.doing](arguments, context)
    print(console.plain(f"{changed.id}  {changed.host}  {_state(changed)}"))
    return _publish(context, registry)


def _add(arguments: argparse.Namespace, context: Context) -> HostKey:
    return Registry(context.home).add(arguments.host, arguments.public_key, arguments.replaces)


def _revoke(arguments: argparse.Namespace, context: Context) -> HostKey:
    return Registry(context.home).revoke(arguments.id)


def _rotate(arguments: argparse.Namespace, context: Context) -> HostKey:
    return local_key.of_census(context.home, context.settings).rotate()


def _publish(context: Context, registry: Registry) -> Exit:
    """Publishes the keys to the running stack; otherwise the next start does."""
    try:
        context.component_state("kafka")
    except NotRunningError:
        print("the stack is not running; its next start publishes the keys")
        return Exit.OK
    publication.publish(context.kafka(ACCOUNT), registry.text())
    return Exit.OK


def _list(arguments: argparse.Namespace, registry: Registry) -> Exit:
    rows = [{"id": id_, **asdict(key)} for id_, key in registry.keys().items()]
    if arguments.output == output.JSON:
        output.write_json(rows)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS["list"], rows)
    elif rows:
        columns = ["id", "host", "state", "registered (UTC)", "replaces"]
        console.table(columns, [_cells(id_, key) for id_, key in registry.keys().items()])
    else:
        print("no key is registered")
    return Exit.OK


def _cells(id_: str, key: HostKey) -> list[str]:
    registered = key.registered_at[:16].replace("T", " ")
    return [id_, console.plain(key.host), _state(key), registered, key.replaces or ""]


def _state(key: HostKey) -> str:
    return f"revoked {key.revoked_at}" if key.revoked_at else "valid"
