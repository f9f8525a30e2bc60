"""Imports dashboards/ into a Superset: assets, roles, the dashboards of each role, and row restrictions.

access.yaml restricts the rows of an audience (docs/ROLES.md). Without options the target is the Superset of
the running stack, which also does this at every start. Manual changes of these assets, roles and rules are
reverted; other objects stay. A second run changes nothing.

FILE of --connections contains the ClickHouse connection for each file of dashboards/databases:

    tailrace:
      uri: clickhousedb://reader_developer:XXXXXXXXXX@clickhouse.example:8443/tailrace?secure=true
      password_file: reader_developer.password      # relative to FILE, or absolute
"""

import argparse
from pathlib import Path

import yaml

from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse import row_policies
from tailrace.dashboards import roles as dashboard_roles
from tailrace.dashboards.asset_files import DIRECTORY
from tailrace.dashboards.connections import ADMINISTRATOR, Connections
from tailrace.dashboards.superset_client import Client

HELP = "import dashboards and roles into Superset"
EXAMPLES = (
    "tailrace dashboards apply",
    "tailrace dashboards apply --url https://superset.example --user admin --password-file admin.txt \\\n"
    "      --connections connections.yaml",
)
EXIT_CODES = {3: "the stack is not running, and --url is not given"}
SEE_ALSO = ("tailrace reports", "docs/DASHBOARDS.md", "docs/ROLES.md")
ELSEWHERE = ("url", "password_file", "connections")
CONNECTION_KEYS = {"uri", "password_file"}


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    apply = commands.add_parser("apply", help="import the files into Superset")
    apply.add_argument("--url", metavar="URL", help="another Superset than the one of the stack")
    apply.add_argument(
        "--user", default=ADMINISTRATOR, metavar="NAME", help="a user with the role Admin (default: admin)"
    )
    apply.add_argument("--password-file", type=Path, metavar="FILE", help="the user's password")
    apply.add_argument("--connections", type=Path, metavar="FILE", help="ClickHouse connections, see above")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    client, its_connections = _elsewhere(arguments) if arguments.url else _own(arguments, context)
    for line in dashboard_roles.publish(client, its_connections, row_policies.load(context.settings.access)):
        print(line)
    if not arguments.url and not context.clickhouse_has_its_access():
        print("note: ClickHouse reads access.yaml when it starts: tailrace restart clickhouse")
    return Exit.OK


def _own(arguments: argparse.Namespace, context: Context) -> tuple[Client, Connections]:
    if arguments.password_file or arguments.connections:
        raise CommandError("--password-file and --connections need --url")
    return context.superset(), context.superset_connections()


def _elsewhere(arguments: argparse.Namespace) -> tuple[Client, Connections]:
    if missing := [name for name in ELSEWHERE if getattr(arguments, name) is None]:
        raise CommandError(f"--url also needs --{missing[0].replace('_', '-')}")
    its_connections = read_connections(arguments.connections)
    return Client(
        arguments.url.rstrip("/"), arguments.user, _secret(arguments.password_file)
    ), its_connections


def read_connections(file: Path) -> Connections:
    """Returns address and password by file of dashboards/databases. Raises CommandError, OSError."""
    content = yaml.safe_load(file.read_text())
    known = {path.stem for path in DIRECTORY.glob("databases/*.yaml")}
    if not isinstance(content, dict) or content.keys() != known:
        raise CommandError(f"{file}: expected the keys {', '.join(sorted(known))}, found {_keys(content)}")
    for name, its in content.items():
        if not isinstance(its, dict) or its.keys() != CONNECTION_KEYS:
            raise CommandError(f"{file}: {name}: expected uri and password_file, found {_keys(its)}")
    return {name: (its["uri"], _secret(file.parent / its["password_file"])) for name, its in content.items()}


def _keys(content: object) -> str:
    return ", ".join(map(str, content)) if isinstance(content, dict) else type(content).__name__


def _secret(file: Path) -> str:
    return file.read_text().strip()
