"""The step `reconcile` of tailrace.deployment."""

import argparse
from collections.abc import Callable

from tailrace.clickhouse.client import ClickHouse
from tailrace.credentials.names import password_name
from tailrace.migrations import reconciliation
from tailrace.migrations.migration_files import MigrationError


def run(arguments: argparse.Namespace, secret: Callable[[str], str]) -> None:
    """Compares, and repairs with --repair. `secret` returns a password by its name.

    Raises MigrationError if differences remain, ClickHouseError, OSError.
    """
    password = secret(password_name("admin"))
    servers = [ClickHouse(url, "admin", password) for url in arguments.clickhouse]
    differences = reconciliation.compare(servers, arguments.days, arguments.settle)
    for difference in differences:
        print(difference)
    if differences and arguments.repair:
        if not arguments.writers_stopped:
            raise MigrationError("--repair needs --writers-stopped: rows that arrive meanwhile would be lost")
        reconciliation.repair(servers, differences, print)
        differences = reconciliation.compare(servers, arguments.days, arguments.settle)
    if differences:
        raise MigrationError(f"{len(differences)} differences between events and the rows derived from them")


def configure(command: argparse.ArgumentParser) -> None:
    """Adds the options of the step, without that of the secrets."""
    command.add_argument(
        "--clickhouse",
        action="append",
        required=True,
        metavar="URL",
        help="every server, such as http://r1:8123",
    )
    command.add_argument(
        "--days", type=int, default=7, metavar="N", help="rows of the last N days only (default: 7)"
    )
    command.add_argument(
        "--settle",
        type=float,
        default=reconciliation.SETTLE_SECONDS,
        metavar="SECONDS",
        help="how long a difference must last: replicas follow an insert (default: %(default)g)",
    )
    command.add_argument(
        "--repair", action="store_true", help="compute differing rows again, from the events"
    )
    command.add_argument("--writers-stopped", action="store_true", help="nothing inserts rows meanwhile")
