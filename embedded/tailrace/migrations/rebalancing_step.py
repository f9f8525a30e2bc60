"""The step `rebalance` of tailrace.deployment."""

import argparse
from collections.abc import Callable
from contextlib import ExitStack

from tailrace.clickhouse.client import ClickHouse
from tailrace.credentials.names import password_name
from tailrace.migrations import rebalancing_record
from tailrace.migrations.lock import lock
from tailrace.migrations.migration_files import MigrationError
from tailrace.migrations.rebalancing import Moved, Rebalancing, abandon


def run(arguments: argparse.Namespace, secret: Callable[[str], str]) -> None:
    """Moves rows to their shards; lists them with --dry-run; ends an interrupted run with --abandon.

    `secret` returns a password by its name.

    Raises RebalancingError, LockedError, MigrationError, ClickHouseError, OSError.
    """
    if not (arguments.dry_run or arguments.writers_stopped):
        raise MigrationError("rebalance needs --writers-stopped: rows that arrive meanwhile would be lost")
    password = secret(password_name("admin"))
    servers = [ClickHouse(url, "admin", password) for url in arguments.clickhouse]
    if arguments.dry_run:
        if record := rebalancing_record.opened(servers):
            print(f"a run is open {record}: repeat it with these servers and weights, or use --abandon")
        for moved in Rebalancing(arguments.cluster, servers, arguments.table).misplaced():
            print(_line(moved, "to move"))
        return
    with ExitStack() as locks:
        for server in servers:
            locks.enter_context(lock(server))
        if arguments.abandon:
            abandon(servers)
            print("the run is abandoned: its last partition is complete, other rows may still have to move")
            return
        rebalancing = Rebalancing(arguments.cluster, servers, arguments.table)
        rebalancing.run(lambda moved: print(_line(moved, "moved"), flush=True))


def _line(moved: Moved, done: str) -> str:
    return f"{moved.table}, partition {moved.partition}: {moved.rows:,} rows {done}"


def configure(command: argparse.ArgumentParser) -> None:
    """Adds the options of the step, without that of the secrets."""
    command.add_argument(
        "--clickhouse", action="append", required=True, metavar="URL", help="a server of each shard"
    )
    command.add_argument("--cluster", required=True, metavar="NAME", help="its name in remote_servers")
    command.add_argument(
        "--table", action="append", default=[], metavar="NAME", help="only this table; may be repeated"
    )
    command.add_argument("--dry-run", action="store_true", help="list the rows to move, change nothing")
    command.add_argument(
        "--abandon",
        action="store_true",
        help="end an interrupted run: complete its last partition, leave other rows where they are",
    )
    command.add_argument("--writers-stopped", action="store_true", help="nothing inserts rows meanwhile")
