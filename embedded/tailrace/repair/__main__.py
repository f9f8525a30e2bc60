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
from tailrace.repair import environment, watchdog
from tailrace.sources import sources_file

PACE = Pace()


def main() -> int:
    arguments = _arguments()
    try:
        if arguments.environment:
            watched, kafka = environment.logs(os.environ), environment.kafka(os.environ)
            clickhouse = environment.clickhouse(os.environ)
        else:
            watched, kafka = sources_file.load(arguments.sources), kafka_client.from_arguments(arguments)
            clickhouse = process.clickhouse_from(arguments)
        listed = listed_logs.read(arguments.listed) if arguments.listed else listed_logs.of_logs(watched)
    except (UsageError, OSError, ValueError, TypeError) as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return 2
    pace = Pace(
        arguments.interval, arguments.calm, arguments.wait, int(arguments.megabytes_per_second * 1_000_000)
    )
    repairer = Repairer(
        clickhouse,
        kafka,
        watched,
        pace,
        process.print_line,
        listing=ListedLogs(clickhouse, listed, arguments.host),
    )
    process.at_stop(repairer.stop)
    repairer.run(lambda done: _write_heartbeat(arguments.heartbeat_file, done))
    return 0


def _write_heartbeat(file: Path, done: Round) -> None:
    watchdog.notify()
    replaced_file.write(file, json.dumps({"at": time.time(), **asdict(done)}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.repair", description=__doc__)
    parser.add_argument(
        "--environment",
        action="store_true",
        help="read the logs, Kafka and ClickHouse from the variables of collector.env and repair.env, "
        "instead of --sources, --kafka, --clickhouse and their options",
    )
    has_options = "--environment" not in sys.argv
    parser.add_argument(
        "--sources", type=Path, required=has_options, help="sources.yaml with the logs of this machine"
    )
    _add_list_arguments(parser)
    kafka_client.add_arguments(parser, has_options)
    process.add_clickhouse_arguments(parser, "repair", has_options)
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
