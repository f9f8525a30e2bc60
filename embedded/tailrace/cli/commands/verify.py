"""Verifies that recorded rows and logs are unchanged and complete, offline or against ClickHouse.

BUNDLE is an evidence bundle, the directory of a transparency log, or the proof of one row. The keys are those
of the log, its witnesses and the hosts; get them from another source than the bundle. A key that is not given
is taken from the bundle, and the verdict is then at best that nothing can be determined. --live verifies the
rows of ClickHouse with the transparency log of this installation. With replicas or shards, name each server
with --server: a replica that lags lacks rows, which would be reported as deleted.
"""

import argparse
import sys

from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse import replica_progress
from tailrace.clickhouse.replica_progress import ReplicaError, ReplicaProgress
from tailrace_verify import options

HELP = "verify rows, logs and evidence with the transparency log"
EXAMPLES = (
    "tailrace verify evidence.zip --public-key auditee.pem --log-key log.vkey --witness-key w1.vkey",
    "tailrace verify /mnt/log --log-key log.vkey --witness-key w1.vkey --host-keys hosts.json --output json",
    "tailrace verify --live --from 2026-11-26T10:00 --to 2026-11-26T12:00",
)
EXIT_CODES = {
    0: "proven",
    1: "tampered: data differ from the record",
    2: "incomplete: something is missing; without a report: an unknown option",
    3: "cannot be determined: a key, a file or the stack is missing",
}
SEE_ALSO = ("tailrace evidence", "tailrace ledger", "docs/VERIFY.md")


def configure(parser: argparse.ArgumentParser) -> None:
    options.configure(parser)
    parser.add_argument(
        "--live", action="store_true", help="verify the rows of ClickHouse instead of a bundle"
    )
    replica_progress.add_argument(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    from tailrace_verify import command
    from tailrace_verify.files import UnreadableError

    try:
        if arguments.live:
            return _live(arguments, context)
        return command.run(arguments)
    except (command.InputError, UnreadableError, ReplicaError, OSError) as error:
        print(f"tailrace: {error}", file=sys.stderr)  # exit code 1 would mean that something was changed
        return Exit.NOT_RUNNING


def _live(arguments: argparse.Namespace, context: Context) -> int:
    from tailrace.evidence.export import ACCOUNT
    from tailrace.evidence.parameters import retention
    from tailrace.verification import live
    from tailrace_verify import command

    if not (context.home.root / live.DIRECTORY / "checkpoint").exists():
        raise command.InputError("this installation has no transparency log yet")
    clickhouse = context.clickhouse(ACCOUNT)
    servers = replica_progress.servers_of(clickhouse, arguments.server)
    ReplicaProgress(servers, live.READ).require_no_delay()
    report = live.verify(
        clickhouse,
        context.home.root,
        command.trust_of(arguments),
        command.scope_of(arguments),
        retention(),
    )
    command.show(report, arguments)
    return report.verdict
