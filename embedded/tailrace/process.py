"""What the processes of several programs share: their log, their end, and their user of ClickHouse."""

import argparse
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse


def print_line(line: str) -> None:
    """Writes a line of the log, with the time, to standard output."""
    print(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}", flush=True)


def at_stop(stop: Callable[[], object]) -> None:
    """Calls `stop` at SIGTERM and SIGINT."""
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop())


def add_clickhouse_arguments(parser: argparse.ArgumentParser, user: str, required: bool = True) -> None:
    """Adds the ClickHouse options of a program, with the default of its user."""
    parser.add_argument(
        "--clickhouse", required=required, metavar="URL", help="such as http://127.0.0.1:18123"
    )
    parser.add_argument("--user", default=user)
    parser.add_argument("--password-file", type=Path, required=required)


def clickhouse_from(arguments: argparse.Namespace) -> ClickHouse:
    """Returns the client for the options of `add_clickhouse_arguments`. Raises OSError."""
    return ClickHouse(arguments.clickhouse, arguments.user, arguments.password_file.read_text().strip())
