"""Connection parameters of Kafka: brokers, and properties of librdkafka with the account."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.errors import UsageError


@dataclass(frozen=True)
class KafkaClient:
    """Connection parameters in the notation of librdkafka."""

    address: str
    """`host:port`, several separated by commas."""
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Properties such as security.protocol; may contain a password."""

    def settings(self, options: Mapping[str, object]) -> dict[str, object]:
        """Returns the configuration of a Producer, Consumer or AdminClient."""
        return {**self.properties, "bootstrap.servers": self.address, **options}


def add_arguments(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Adds the Kafka options of a program."""
    parser.add_argument("--kafka", required=required, metavar="HOST:PORT,…")
    parser.add_argument(
        "--kafka-property",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="property of librdkafka, such as security.protocol=sasl_ssl, ssl.ca.location, sasl.username",
    )
    parser.add_argument(
        "--kafka-password-file", type=Path, metavar="FILE", help="file with the password of sasl.username"
    )


def from_arguments(arguments: argparse.Namespace) -> KafkaClient:
    """Returns the client for the options of `add_arguments`. Raises OSError."""
    properties = dict(pair.split("=", 1) for pair in arguments.kafka_property)
    if arguments.kafka_password_file:
        properties["sasl.password"] = arguments.kafka_password_file.read_text().strip()
    return KafkaClient(arguments.kafka, properties)


def as_words(arguments: argparse.Namespace) -> list[str]:
    """Returns the options of `add_arguments` as words for another program.

    Raises UsageError without --kafka.
    """
    if not arguments.kafka:
        raise UsageError("expected the option --kafka")
    words = ["--kafka", arguments.kafka]
    words += [word for pair in arguments.kafka_property for word in ("--kafka-property", pair)]
    if arguments.kafka_password_file:
        words += ["--kafka-password-file", str(arguments.kafka_password_file)]
    return words
