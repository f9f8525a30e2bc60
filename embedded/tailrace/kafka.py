"""Kafka's clients: where the brokers are, and as which account one speaks to them.

The accounts of schemas/kafka-accounts.yaml exist where the stack is secured. Their passwords are the secrets
`kafka-<account>` of the home directory.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tailrace.certificates import Certificates
from tailrace.home import Home
from tailrace.settings import REPOSITORY, Settings

ACCOUNTS = REPOSITORY / "schemas" / "kafka-accounts.yaml"
USER_PREFIX = "tailrace-"
MECHANISM = "SCRAM-SHA-512"
ITERATIONS = 8192
TIMEOUT_SECONDS = 20


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


@dataclass(frozen=True)
class Account:
    """What one user may do."""

    name: str
    read: tuple[str, ...]
    """Topics."""
    write: tuple[str, ...]
    """Topics."""
    groups: tuple[str, ...]
    """Consumer groups."""

    @property
    def user(self) -> str:
        return USER_PREFIX + self.name

    def rights(self) -> set[AclBinding]:
        """Reading and writing a topic imply that it may be described."""
        topics = [(topic, AclOperation.READ) for topic in self.read]
        topics += [(topic, AclOperation.WRITE) for topic in self.write]
        return {
            *(self._right(ResourceType.TOPIC, topic, operation) for topic, operation in topics),
            *(self._right(ResourceType.GROUP, group, AclOperation.READ) for group in self.groups),
        }

    def _right(self, kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
        return AclBinding(
            kind,
            name,
            ResourcePatternType.LITERAL,
            f"User:{self.user}",
            "*",
            operation,
            AclPermissionType.ALLOW,
        )


def accounts(file: Path = ACCOUNTS) -> list[Account]:
    """The accounts of the list."""
    return [
        Account(
            entry["name"],
            *(tuple(entry.get(kind, ())) for kind in ("read", "write", "groups")),
        )
        for entry in yaml.safe_load(file.read_text())["accounts"]
    ]


def password_name(account: str) -> str:
    """The name in Home.secret of an account's password."""
    return f"kafka-{account}"


def connect(settings: Settings, home: Home, account: str) -> KafkaClient:
    """The embedded Kafka as seen by one of the accounts; without accounts where it is not secured."""
    address = f"127.0.0.1:{settings.port_kafka}"
    certificates = Certificates(home)
    if not certificates.exist():
        return KafkaClient(address)
    return KafkaClient(
        address,
        {
            "security.protocol": "sasl_ssl",
            "ssl.ca.location": str(certificates.trust),
            "sasl.mechanism": MECHANISM,
            "sasl.username": USER_PREFIX + account,
            "sasl.password": home.secret(password_name(account)),
        },
    )


def administration(settings: Settings, home: Home) -> KafkaClient:
    """The embedded Kafka as seen by the stack itself: by certificate, at a listener of its own."""
    certificates = Certificates(home)
    if not certificates.exist():
        return connect(settings, home, "admin")
    file = str(certificates.file("admin"))
    return KafkaClient(
        f"127.0.0.1:{settings.port_kafka_internal}",
        {
            "security.protocol": "ssl",
            "ssl.ca.location": str(certificates.trust),
            "ssl.certificate.location": file,
            "ssl.key.location": file,
        },
    )


def apply_accounts(admin: AdminClient, listed: list[Account], secret: Callable[[str], str]) -> None:
    """Makes the accounts have their passwords, and the rights of the list and no others.

    `secret` gives a password by its name, such as `kafka-collector`. Raises KafkaException.
    """
    scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS)
    changed = [
        UserScramCredentialUpsertion(account.user, scram, secret(password_name(account.name)).encode())
        for account in listed
    ]
    _wait_for(admin.alter_user_scram_credentials(changed))
    wanted = set().union(*(account.rights() for account in listed))
    principals = {f"User:{account.user}" for account in listed}
    found = admin.describe_acls(anything()).result(TIMEOUT_SECONDS)
    existing = {right for right in found if right.principal in principals}
    if missing := wanted - existing:
        _wait_for(admin.create_acls(list(missing)))
    if surplus := existing - wanted:
        _wait_for(admin.delete_acls([_only(right) for right in surplus]))


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


def as_arguments(settings: Settings, home: Home, account: str) -> list[str]:
    """The options with which a program becomes that account of the embedded Kafka."""
    client = connect(settings, home, account)
    shown = {name: value for name, value in client.properties.items() if name != "sasl.password"}
    options = ["--kafka", client.address]
    for name, value in shown.items():
        options += ["--kafka-property", f"{name}={value}"]
    if "sasl.password" in client.properties:
        options += ["--kafka-password-file", str(home.secret_file(password_name(account)))]
    return options


def anything() -> AclBindingFilter:
    """Every right that is granted to anybody."""
    return AclBindingFilter(
        ResourceType.ANY,
        None,
        ResourcePatternType.ANY,
        None,
        None,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )


def _only(right: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        right.restype,
        right.name,
        right.resource_pattern_type,
        right.principal,
        right.host,
        right.operation,
        right.permission_type,
    )


def _wait_for(futures: Mapping) -> None:
    for future in futures.values():
        future.result(TIMEOUT_SECONDS)
