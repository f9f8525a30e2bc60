"""`python -m tailrace.repair`: ships missing byte ranges of this machine's logs again, until SIGTERM.

It also records in ClickHouse which logs the machine lists, so that one of which nothing arrives is known.
"""

import argparse
import json
import os
import socket
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tailrace import process, replaced_file
from tailrace.backfill.repair import Pace, Repairer, Round
from tailrace.errors import UsageError
from tailrace.kafka import client as kafka_client
from tailrace.ledger import listed_logs
from tailrace.ledger.listed_logs import ListedLogs
from tailrace.sources import sources_file

PACE = Pace()


def main() -> int:
    arguments = _arguments()
    try:
        watched = sources_file.load(arguments.sources)
        listed = listed_logs.read(arguments.listed) if arguments.listed else listed_logs.of_logs(watched)
    except (UsageError, OSError, ValueError, TypeError) as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return 2
    pace = Pace(
        arguments.interval, arguments.calm, arguments.wait, int(arguments.megabytes_per_second * 1_000_000)
    )
    clickhouse = process.clickhouse_from(arguments)
    repairer = Repairer(
        clickhouse,
        kafka_client.from_arguments(arguments),
        watched,
        pace,
        process.print_line,
        listing=ListedLogs(clickhouse, listed, arguments.host),
    )
    process.at_stop(repairer.stop)
    repairer.run(lambda done: _write_heartbeat(arguments.heartbeat_file, done))
    return 0


def _write_heartbeat(file: Path, done: Round) -> None:
    replaced_file.write(file, json.dumps({"at": time.time(), **asdict(done)}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.repair", description=__doc__)
    parser.add_argument(
        "--sources", type=Path, required=True, help="sources.yaml with the logs of this machine"
    )
    _add_list_arguments(parser)
    kafka_client.add_arguments(parser)
    process.add_clickhouse_arguments(parser, user="repair")
    for name, default, text in (
        ("interval", PACE.interval_seconds, "time between two reads of the ledger"),
        ("calm", PACE.calm_seconds, "time for which a range must stay unchanged before it is shipped"),
        ("wait", PACE.wait_seconds, "time that the ledger gets to show a shipped range as filled"),
    ):
        parser.add_argument(
            f"--{name}", type=float, default=default, metavar="SECONDS", help=f"{text} (default: {default:g})"
        )
    parser.add_argument(
        "--megabytes-per-second",
        type=float,
        default=PACE.bytes_per_second / 1e6,
        metavar="N",
        help="maximum rate of shipments (default: %(default)g)",
    )
    parser.add_argument(
        "--heartbeat-file",
        type=Path,
        required=True,
        help="file that is written after every read of the ledger",
    )
    return parser.parse_args()


def _add_list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listed",
        type=Path,
        metavar="FILE",
        help="JSON list of all entries of this machine (default: --sources)",
    )
    parser.add_argument(
        "--host",
        default=os.environ.get("TAILRACE_HOST") or socket.gethostname(),
        metavar="NAME",
        help="name of this machine in the table listed_logs, which no other list may have "
        "(default: TAILRACE_HOST, or its name)",
    )


if __name__ == "__main__":
    sys.exit(main())
