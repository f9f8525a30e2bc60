"""How a program reaches Kafka: the brokers, and librdkafka's properties with the account."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class KafkaClient:
    """How to reach Kafka, in librdkafka's words."""

    address: str
    """`host:port`, several separated by commas."""
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Such as security.protocol; may hold a password."""

    def settings(self, options: Mapping[str, object]) -> dict[str, object]:
        """What a Producer, Consumer or AdminClient is made with."""
        return {**self.properties, "bootstrap.servers": self.address, **options}


def add_arguments(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """The options of a program that reaches any Kafka."""
    parser.add_argument("--kafka", required=required, metavar="HOST:PORT,…")
    parser.add_argument(
        "--kafka-property",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="librdkafka's, such as security.protocol=sasl_ssl, ssl.ca.location, sasl.username",
    )
    parser.add_argument(
        "--kafka-password-file", type=Path, metavar="FILE", help="with the password of sasl.username"
    )


def from_arguments(arguments: argparse.Namespace) -> KafkaClient:
    """What `add_arguments` was given. Raises OSError."""
    properties = dict(pair.split("=", 1) for pair in arguments.kafka_property)
    if arguments.kafka_password_file:
        properties["sasl.password"] = arguments.kafka_password_file.read_text().strip()
    return KafkaClient(arguments.kafka, properties)
