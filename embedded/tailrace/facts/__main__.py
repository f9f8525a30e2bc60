"""`python -m tailrace.facts`: stores snapshots of servers until SIGTERM."""

import argparse
import sys
from pathlib import Path

from confluent_kafka import Consumer

from tailrace import process
from tailrace.config import renamed
from tailrace.config.renamed import Renamed
from tailrace.kafka import client as kafka_client
from tailrace.snapshots.loader import GROUP, Loader
from tailrace.snapshots.query_ids import QueryIds

OLD_OPTIONS = {"--beat": Renamed("--heartbeat-file")}


def main() -> int:
    arguments = _arguments()
    clickhouse = process.clickhouse_from(arguments)
    consumer = Consumer(
        kafka_client.from_arguments(arguments).settings(
            {
                "group.id": GROUP,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                # How long the broker holds a request that finds no record; a record answers it at once.
                "fetch.wait.max.ms": 5000,
            }
        )
    )
    loader = Loader(
        consumer,
        clickhouse,
        arguments.heartbeat_file,
        process.print_line,
        QueryIds(arguments.fingerprint_socket),
    )
    process.at_stop(loader.stop)
    try:
        loader.run()
    finally:
        consumer.close()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.facts", description=__doc__)
    kafka_client.add_arguments(parser)
    process.add_clickhouse_arguments(parser, user="facts")
    parser.add_argument(
        "--heartbeat-file", type=Path, required=True, help="file that is written after every batch"
    )
    parser.add_argument(
        "--fingerprint-socket", type=Path, metavar="FILE", help="socket of the fingerprint service"
    )
    return renamed.parse(parser, OLD_OPTIONS)


if __name__ == "__main__":
    sys.exit(main())
