"""`python -m tailrace.facts`: stores snapshots of servers until SIGTERM."""

import argparse
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import Consumer

from tailrace.clickhouse.client import ClickHouse
from tailrace.config import renamed
from tailrace.config.renamed import Renamed
from tailrace.kafka import client as kafka_client
from tailrace.snapshots.loader import GROUP, Loader

OLD_OPTIONS = {"--beat": Renamed("--heartbeat-file")}


def main() -> int:
    arguments = _arguments()
    password = arguments.password_file.read_text().strip()
    consumer = Consumer(
        kafka_client.from_arguments(arguments).settings(
            {
                "group.id": GROUP,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
    )
    clickhouse = ClickHouse(arguments.clickhouse, arguments.user, password)
    loader = Loader(consumer, clickhouse, arguments.heartbeat_file, _print_line)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: loader.stop())
    try:
        loader.run()
    finally:
        consumer.close()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.facts", description=__doc__)
    kafka_client.add_arguments(parser)
    parser.add_argument("--clickhouse", required=True, metavar="URL", help="such as http://127.0.0.1:18123")
    parser.add_argument("--user", default="facts")
    parser.add_argument("--password-file", type=Path, required=True)
    parser.add_argument(
        "--heartbeat-file", type=Path, required=True, help="file that is written after every batch"
    )
    return renamed.parse(parser, OLD_OPTIONS)


def _print_line(line: str) -> None:
    print(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
