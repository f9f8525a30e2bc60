"""Reveals the name behind a pseudonym. ClickHouse decides who may, and records it before it gives the name.

The account `revealer` adds a request with the token of a person. If the token is valid and has SCOPE,
ClickHouse appends the reveal to the record, in the name of its owner. The account can read the encrypted name
of a recorded reveal for five minutes, and nothing else of the vault.
"""

import uuid
from dataclasses import dataclass, field

from tailrace.api import tokens
from tailrace.clickhouse.client import ClickHouse
from tailrace.erasure.pseudonyms import Subject, SubjectError
from tailrace.erasure.vault import open_name
from tailrace.retention.holds import HoldError

ACCOUNT = "revealer"
"""The user of ClickHouse that has the role `reveal`."""
SCOPE = "names:reveal"
REVEALED = """
SELECT actor, role, is_erased, wrapped_key, sealed_name FROM tailrace.revealed_names
WHERE reveal_id = {id:UUID} AND pseudonym = {pseudonym:String}
"""
ENGINE = "SELECT engine FROM system.tables WHERE database = 'tailrace' AND name = 'revealed_names'"
ON_SHARDS = "Distributed"


class DeniedError(SubjectError):
    """The person may not reveal names; the message is shown to the user."""


@dataclass(frozen=True)
class Person:
    """Who wants to know a name, and why."""

    token: str = field(repr=False)
    """A token of `tailrace tokens create` with SCOPE, whose owner is the person."""
    reason: str


@dataclass(frozen=True)
class Sealed:
    """The name of a recorded reveal, encrypted; empty if the vault has none."""

    is_erased: bool
    wrapped_key: str
    sealed_name: str


def reveal(revealer: ClickHouse, private_key: bytes, subject: Subject, person: Person) -> str:
    """Records the reveal, then returns the name of a pseudonym.

    `private_key` is PEM. Raises DeniedError; SubjectError if the vault has no name, its erasure was
    recorded, or the key does not open it; HoldError without a reason; ClickHouseError, OSError.
    """
    sealed = record(revealer, subject, person)
    # An interrupted erasure has left the name in the vault.
    if sealed.is_erased:
        raise SubjectError(f"{subject.pseudonym} was erased")
    if not sealed.sealed_name:
        raise SubjectError(f"{subject.pseudonym} has no name in the vault")
    return open_name(private_key, subject.pseudonym, sealed.wrapped_key, sealed.sealed_name)


def record(revealer: ClickHouse, subject: Subject, person: Person) -> Sealed:
    """Records that a person reveals a name or looks for its pseudonym, without the name.

    Raises as `reveal`, except for names that the vault lacks.
    """
    if not person.reason.strip():
        raise HoldError("the record needs a reason")
    _require_one_server(revealer)
    id_ = str(uuid.uuid4())
    request = {"reveal_id": id_, "token": person.token, "pseudonym": subject.pseudonym}
    request["reason"] = person.reason
    revealer.append(f"tailrace.name_reveals ({', '.join(request)})", [request])
    found = revealer.rows(REVEALED, {"id": id_, "pseudonym": subject.pseudonym})
    if not found:
        raise DeniedError(
            f"denied: the token is unknown, expired or revoked, or lacks the scope {SCOPE} (docs/ERASURE.md)"
        )
    row = found[0]
    if SCOPE not in tokens.scopes_of(str(row["role"])):
        raise DeniedError(f"denied: the role {row['role']} of {row['actor']} may no longer reveal names")
    return Sealed(bool(row["is_erased"]), str(row["wrapped_key"]), str(row["sealed_name"]))


def _require_one_server(revealer: ClickHouse) -> None:
    """On shards the name and its record may be on different ones."""
    engines = revealer.rows(ENGINE)
    if engines and engines[0]["engine"] == ON_SHARDS:
        raise SubjectError("names can be revealed with one shard of ClickHouse, not with several")
