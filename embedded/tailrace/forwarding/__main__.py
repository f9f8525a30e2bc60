"""`python -m tailrace.forwarding`: forwards events to the channels of `events` in alerts.yaml until
SIGTERM."""

import argparse
import gc
import sys
from pathlib import Path

from confluent_kafka import KafkaException

from tailrace import process
from tailrace.alerts.delivery import config
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.forwarding.forwarder import Forwarder
from tailrace.forwarding.service import Service, status_file
from tailrace.forwarding.status import Status
from tailrace.kafka import client as kafka_client
from tailrace.outputs.event_channels import EventChannel

OBJECTS_BETWEEN_COLLECTIONS = (100_000, 50, 50)
"""Events contain no cycles. With Python's defaults, the search for some takes a quarter of the CPU time."""


def main() -> int:
    arguments = _arguments()
    try:
        channels = config.load(arguments.config).events
    except ConfigurationError as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return 2
    if arguments.channel is None:
        return _run_all(arguments, list(channels))
    (channel,) = [each for each in channels if each.name == arguments.channel]
    return _run(arguments, channel)


def _run_all(arguments: argparse.Namespace, channels: list[EventChannel]) -> int:
    service = Service(channels, sys.argv[1:], arguments.status_directory, process.print_line)
    process.at_stop(service.stop)
    return 0 if service.run() else 1


def _run(arguments: argparse.Namespace, channel: EventChannel) -> int:
    gc.set_threshold(*OBJECTS_BETWEEN_COLLECTIONS)
    status = Status(status_file(arguments.status_directory, channel.name, arguments.number))
    settings = kafka_client.from_arguments(arguments).settings
    forwarder = Forwarder(channel, settings, status, process.print_line, arguments.number)
    process.at_stop(forwarder.stop)
    try:
        forwarder.run()
    except KafkaException as error:
        process.print_line(f"{channel.name}: Kafka: {error.args[0].str()}")
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.forwarding", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="alerts.yaml")
    kafka_client.add_arguments(parser)
    parser.add_argument(
        "--status-directory", type=Path, required=True, help="directory of files with the status"
    )
    parser.add_argument("--channel", help="forward to this channel only, in this process")
    parser.add_argument(
        "--number", type=int, default=0, help="number of this process among the processes of a channel"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
