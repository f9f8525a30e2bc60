"""`python -m tailrace.transparency`: extends the transparency log and publishes checkpoints until SIGTERM."""

import argparse
import fcntl
import json
import sys
import threading
import time
from pathlib import Path

from tailrace import process
from tailrace.clickhouse import replica_progress
from tailrace.errors import ReportedError
from tailrace.evidence import signing
from tailrace.transparency import files, witnesses
from tailrace.transparency.collector import Collector
from tailrace.transparency.keys import ORIGIN, WITNESSES
from tailrace.transparency.log import TransparencyLog
from tailrace.transparency.service import Service


def main() -> int:
    arguments = _arguments()
    directory = arguments.directory
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            service = _service(arguments)
        except (ReportedError, ValueError) as error:
            print(f"tailrace: {error}", file=sys.stderr)
            return 2
        _run(service, arguments)
    return 0


def _service(arguments: argparse.Namespace) -> Service:
    directory = arguments.directory
    origin = (directory / ORIGIN).read_text().strip()
    log = TransparencyLog(directory, origin, signing.read_private(arguments.key))
    clickhouse = process.clickhouse_from(arguments)
    servers = replica_progress.servers_of(clickhouse, arguments.server)
    collector = Collector(clickhouse, log.store, arguments.keys_file, servers=servers)
    found = witnesses.load(directory / WITNESSES)
    process.print_line(f"extends {origin}, {log.size} leaves, {len(found)} witnesses")
    return Service(log, collector, found, process.print_line)


def _run(service: Service, arguments: argparse.Namespace) -> None:
    """Steps until SIGTERM, and writes the heartbeat file after each."""
    stop = threading.Event()
    process.at_stop(stop.set)
    since = 0.0
    while not stop.is_set():
        started = time.monotonic()
        has_more = service.step()
        since = (since or time.time()) if service.problem else 0.0
        state = {"at": time.time(), "problem": "", "unsolved": service.problem, "since": since}
        files.write(arguments.heartbeat_file, json.dumps(state).encode())
        if not has_more:
            stop.wait(max(0.0, started + arguments.interval - time.monotonic()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.transparency", description=__doc__)
    parser.add_argument("--directory", type=Path, required=True, help="the directory of the log")
    parser.add_argument("--key", type=Path, required=True, help="the log's private key, in PEM format")
    parser.add_argument("--keys-file", type=Path, required=True, help="the registered host keys, as JSON")
    process.add_clickhouse_arguments(parser, user="auditor")
    replica_progress.add_argument(parser)
    parser.add_argument(
        "--interval", type=float, default=60, help="seconds between two checkpoints (default: %(default)g)"
    )
    parser.add_argument(
        "--heartbeat-file", type=Path, required=True, help="file that is written after each step"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
