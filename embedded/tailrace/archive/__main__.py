"""`python -m tailrace.archive`: archives closed days and reads them back, each day until SIGTERM."""

import argparse
import json
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tailrace import process
from tailrace.archive import lock, service, session
from tailrace.archive.location import Location, S3Access, opened
from tailrace.clickhouse import replica_progress
from tailrace.errors import ReportedError
from tailrace.plural import counted
from tailrace.transparency import files

RETRY_SECONDS = 600


def main() -> int:
    arguments = _arguments()
    try:
        location = _location(arguments)
    except (ReportedError, OSError) as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return 2
    stop = threading.Event()
    process.at_stop(stop.set)
    since = 0.0
    while not stop.is_set():
        _beat(arguments.heartbeat_file, "", since)
        problem = _run(arguments, location)
        since = (since or time.time()) if problem else 0.0
        _beat(arguments.heartbeat_file, problem, since)
        stop.wait(RETRY_SECONDS if problem else _seconds_to_next_end(arguments.delay))
    return 0


def _run(arguments: argparse.Namespace, location: Location) -> str:
    """Archives what is closed; returns the problem in one sentence."""
    end = (datetime.now(UTC) - timedelta(hours=arguments.delay)).date()
    try:
        with lock.held(arguments.home):
            clickhouse = process.clickhouse_from(arguments)
            servers = replica_progress.servers_of(clickhouse, arguments.server)
            task = service.Task(clickhouse, location, arguments.home, process.print_line, servers=servers)
            for day, is_verified in task.run(end):
                state = "verified" if is_verified else "NOT verified"
                process.print_line(
                    f"{day.table} of {day.day}: {counted(day.rows, 'row')}, "
                    f"{counted(day.size, 'byte')}, {state}"
                )
    except (ReportedError, OSError, ValueError) as error:
        process.print_line(str(error))
        return str(error)
    return next(iter(task.findings()), "")


def _seconds_to_next_end(delay: int) -> float:
    """Returns the time until the next day is closed, `delay` hours after its end."""
    shifted = datetime.now(UTC) - timedelta(hours=delay)
    midnight = datetime(shifted.year, shifted.month, shifted.day, tzinfo=UTC) + timedelta(days=1)
    return (midnight - shifted).total_seconds() + 1


def _beat(file: Path, problem: str, since: float) -> None:
    state = {"at": time.time(), "problem": "", "unsolved": problem, "since": since}
    files.write(file, json.dumps(state).encode())


def _location(arguments: argparse.Namespace) -> Location:
    access = S3Access(arguments.endpoint, arguments.region, *session.keys_of(arguments.secret_file))
    return opened(arguments.archive, access)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.archive", description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="the home directory")
    parser.add_argument("--archive", required=True, help="a directory, or s3://BUCKET/PREFIX")
    parser.add_argument("--endpoint", default="", help="URL of an S3-compatible store")
    parser.add_argument("--region", default="", help="region of the bucket")
    parser.add_argument("--secret-file", type=Path, default=Path(), help="file with id and key of the bucket")
    parser.add_argument("--delay", type=int, default=12, help="hours after the end of a day")
    process.add_clickhouse_arguments(parser, user="admin")
    replica_progress.add_argument(parser)
    parser.add_argument(
        "--heartbeat-file", type=Path, required=True, help="file that is written after each run"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
