"""Applies schemas/kafka-accounts.yaml to a Kafka that authenticates its clients.

The passwords are the secrets `kafka-<account>`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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

from tailrace.config.resources import ROOT

ACCOUNTS = ROOT / "schemas" / "kafka-accounts.yaml"
USER_PREFIX = "tailrace-"
MECHANISM = "SCRAM-SHA-512"
ITERATIONS = 8192
ANY = "*"
TIMEOUT_SECONDS = 20


@dataclass(frozen=True)
class Account:
    """The permissions of one user."""

    name: str
    read: tuple[str, ...]
    """Topics."""
    write: tuple[str, ...]
    """Topics."""
    groups: tuple[str, ...]
    """Consumer groups. An asterisk at the end stands for any text."""
    transactions: tuple[str, ...] = ()
    """Transactional ids, also with an asterisk."""

    @property
    def user(self) -> str:
        return USER_PREFIX + self.name

    def rights(self) -> set[AclBinding]:
        """Reading or writing a topic includes describing it."""
        topics = [(topic, AclOperation.READ) for topic in self.read]
        topics += [(topic, AclOperation.WRITE) for topic in self.write]
        return {
            *(self._right(ResourceType.TOPIC, topic, operation) for topic, operation in topics),
            *(self._right(ResourceType.GROUP, group, AclOperation.READ) for group in self.groups),
            *(
                self._right(ResourceType.TRANSACTIONAL_ID, name, operation)
                for name in self.transactions
                for operation in (AclOperation.WRITE, AclOperation.DESCRIBE)
            ),
        }

    def _right(self, kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
        is_prefix = name.endswith(ANY)
        return AclBinding(
            kind,
            name.removesuffix(ANY),
            ResourcePatternType.PREFIXED if is_prefix else ResourcePatternType.LITERAL,
            f"User:{self.user}",
            "*",
            operation,
            AclPermissionType.ALLOW,
        )


def accounts(file: Path = ACCOUNTS) -> list[Account]:
    """Reads the accounts of the file."""
    return [
        Account(
            entry["name"],
            *(tuple(entry.get(kind, ())) for kind in ("read", "write", "groups", "transactions")),
        )
        for entry in yaml.safe_load(file.read_text())["accounts"]
    ]


def password_name(account: str) -> str:
    """Returns the name of an account's password for Home.secret."""
    return f"kafka-{account}"


def apply_accounts(admin: AdminClient, listed: list[Account], secret: Callable[[str], str]) -> None:
    """Sets the passwords of the accounts, and grants exactly the listed permissions.

    `secret` returns a password by its name, such as `kafka-collector`. Raises KafkaException.
    """
    scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS)
    changed = [
        UserScramCredentialUpsertion(account.user, scram, secret(password_name(account.name)).encode())
        for account in listed
    ]
    _wait_for(admin.alter_user_scram_credentials(changed))
    wanted = set().union(*(account.rights() for account in listed))
    principals = {f"User:{account.user}" for account in listed}
    found = admin.describe_acls(any_acl()).result(TIMEOUT_SECONDS)
    existing = {right for right in found if right.principal in principals}
    if missing := wanted - existing:
        _wait_for(admin.create_acls(list(missing)))
    if surplus := existing - wanted:
        _wait_for(admin.delete_acls([_only(right) for right in surplus]))


def any_acl() -> AclBindingFilter:
    """Returns a filter that matches every granted permission."""
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
