"""The options of the commands of `python -m tailrace.deployment`."""

import argparse
from pathlib import Path

from tailrace.credentials.certificates import USAGES
from tailrace.kafka import client as kafka_client

SECRETS = Path("/run/secrets")


def configure_topics(command: argparse.ArgumentParser) -> None:
    kafka_client.add_arguments(command)
    add_secrets(command)
    command.add_argument("--accounts", action="store_true", help="also create Kafka's accounts")


def configure_command(command: argparse.ArgumentParser) -> None:
    add_secrets(command)
    command.add_argument("--clickhouse", required=True, metavar="URL", help="such as http://clickhouse:8123")
    kafka_client.add_arguments(command, required=False)
    command.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="and its options")


def configure_host_keys(command: argparse.ArgumentParser) -> None:
    kafka_client.add_arguments(command)
    command.add_argument("--json", metavar="TEXT", help="the keys (default: keys/hosts.json)")


def configure_migrations(command: argparse.ArgumentParser) -> None:
    configure_servers(command)
    command.add_argument("--writers-stopped", action="store_true", help="as for `tailrace migrate`")


def configure_collector(command: argparse.ArgumentParser) -> None:
    kafka_client.add_arguments(command, required=False)
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--demo", action="store_true", help="also watch two days of a shop; needs --kafka")
    shown.add_argument(
        "--samples", action="store_true", help="also watch the logs of samples/; needs --kafka"
    )


def configure_certificates(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--host", action="append", default=[], metavar="NAME", help="a server name in addition to localhost"
    )
    command.add_argument(
        "--readable-by",
        action="append",
        default=[],
        choices=USAGES,
        help="a file that other users can read, because a service mounts it",
    )
    command.add_argument("--renew", action="store_true", help="renew all certificates except the authority")


def configure_servers(command: argparse.ArgumentParser) -> None:
    add_secrets(command)
    command.add_argument(
        "--clickhouse",
        action="append",
        required=True,
        metavar="URL",
        help="http://clickhouse:8123; with --replicated every server, without Keeper one of each shard",
    )
    command.add_argument(
        "--cluster", default="", metavar="NAME", help="the cluster's name, if it has several servers"
    )
    command.add_argument("--sharded", action="store_true", help="the cluster has more than one shard")
    command.add_argument(
        "--replicated",
        action="store_true",
        help="replicas of a Keeper, migrated without ON CLUSTER: --clickhouse names every server",
    )


def configure_dashboards(command: argparse.ArgumentParser) -> None:
    add_secrets(command)
    command.add_argument("--superset", required=True, metavar="URL", help="such as http://superset:8088")
    command.add_argument(
        "--clickhouse",
        required=True,
        metavar="HOST:PORT",
        help="ClickHouse's HTTP port, as Superset reaches it",
    )
    command.add_argument(
        "--clickhouse-tls", action="store_true", help="that port has TLS; Superset trusts its authorities"
    )


def configure_clickhouse(command: argparse.ArgumentParser) -> None:
    add_secrets(command)
    command.add_argument(
        "--to", type=Path, required=True, metavar="DIR", help="target directory of both files"
    )
    command.add_argument("--sharded", action="store_true", help="for more than one shard")
    command.add_argument(
        "--clickhouse-path", type=Path, metavar="DIR", help="path of that directory for ClickHouse"
    )
    command.add_argument(
        "--network",
        action="append",
        default=[],
        metavar="CIDR",
        help="network from which users may connect, in addition to 127.0.0.1",
    )


def add_secrets(command: argparse.ArgumentParser) -> None:
    command.add_argument("--secrets", type=Path, default=SECRETS, metavar="DIR", help=f"default: {SECRETS}")
