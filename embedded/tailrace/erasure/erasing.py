"""Erases the name of a subject from the vault. Erasures are recorded beside the legal holds.

Rows and archives keep the pseudonym and are not changed, so the transparency log still proves them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tailrace.clickhouse import running_inserts
from tailrace.clickhouse.client import ClickHouse
from tailrace.erasure import columns, replicas
from tailrace.erasure.pseudonyms import CLIENT, USER, Pseudonyms, Subject, SubjectError
from tailrace.retention import archive, holds, record
from tailrace.retention.holds import Hold, Reads
from tailrace.retention.record import ERASE, REVEAL, Recorded
from tailrace.retention.selectors import Selector

VAULT = "tailrace.subject_vault"
NAMES = f"""
SELECT wrapped_key, sealed_name FROM {VAULT} WHERE pseudonym = {{pseudonym:String}} ORDER BY seen_at DESC
"""
ERASED = """
SELECT 1 FROM tailrace.legal_hold_actions
WHERE action = 'erase' AND JSONExtractString(selector, 'pseudonym') = {pseudonym:String} LIMIT 1
"""
UNFINISHED = f"""
SELECT DISTINCT pseudonym FROM {VAULT} WHERE pseudonym IN (
    SELECT JSONExtractString(selector, 'pseudonym') FROM tailrace.legal_hold_actions WHERE action = 'erase')
ORDER BY pseudonym
"""
OLD_FILES = """
SELECT count() AS parts FROM system.parts
WHERE database = 'tailrace' AND table = 'subject_vault' AND NOT active AND rows > 0
"""
REMOVE_OLD_FILES = f"ALTER TABLE {VAULT} DROP PARTITION ID 'none'"
"""There is no such partition. With it ClickHouse removes old files at once, otherwise when it has work."""
INSERT_SECONDS = 600


@dataclass(frozen=True)
class Order:
    """Who erases, and why."""

    actor: str
    reason: str
    case: str


@dataclass(frozen=True)
class Erased:
    """The completed and the incomplete steps of an erasure."""

    subject: Subject
    files_removed: bool
    """Whether ClickHouse has removed the old files of the vault already; otherwise it does so later."""
    in_clear: Mapping[str, int]
    """Rows with the name by table, without tables that have none; empty without a name."""


def erase(
    servers: Sequence[ClickHouse],
    auditor: ClickHouse,
    pseudonyms: Pseudonyms,
    subject: Subject,
    order: Order,
) -> Erased:
    """Deletes the name and key of a subject. An interrupted erasure can be repeated.

    `servers` are all replicas of the vault, as the user admin. Raises SubjectError if nothing of the subject
    was stored, a legal hold selects its rows, the order has the name, a replica is missing, or there are
    shards; HoldError if the order is incomplete; ReplicaError, ClickHouseError, OSError.
    """
    admin = servers[0]
    require_no_name(subject, order.case, order.reason)
    require_erasable(servers, pseudonyms, subject)
    parameters = {"pseudonym": subject.pseudonym}
    _record(auditor, ERASE, subject, order)
    for server in servers:
        replicas.await_row(server, ERASED, parameters)
        _await_inserts(server)
    admin.execute(
        f"ALTER TABLE {VAULT} DELETE WHERE pseudonym = {{pseudonym:String}}", parameters, mutations_sync=2
    )
    if any(server.rows(NAMES, parameters) for server in servers):
        raise SubjectError(f"the vault still has a name of {subject.pseudonym}: repeat the command")
    are_removed = [replicas.await_files(server, OLD_FILES, REMOVE_OLD_FILES) for server in servers]
    return Erased(subject, all(are_removed), clear_rows(admin, subject) if subject.name else {})


def require_erasable(servers: Sequence[ClickHouse], pseudonyms: Pseudonyms, subject: Subject) -> None:
    """Raises SubjectError as `erase`."""
    admin = servers[0]
    replicas.require_all(servers)
    parameters = {"pseudonym": subject.pseudonym}
    is_known = any(admin.rows(query, parameters) for query in (NAMES, ERASED))
    # A restored backup has the rows, but neither the name nor the record of a later erasure.
    if not is_known and not _has_rows(admin, subject):
        raise SubjectError(f"the vault has no name of {subject.pseudonym}: no row with it was stored here")
    if blocking := held_by(admin, pseudonyms, subject):
        told = "; ".join(f"{hold.id[:8]}, case {hold.case_name}" for hold in blocking)
        raise SubjectError(f"a legal hold suspends the erasure: {told}; see: tailrace hold list")


def unfinished(admin: ClickHouse) -> list[str]:
    """Returns the pseudonyms whose erasure was recorded, and whose name the vault still has."""
    return [str(row["pseudonym"]) for row in admin.rows(UNFINISHED)]


def recorded(clickhouse: Reads) -> list[Recorded]:
    """Returns all erasures and reveals, the oldest first. Raises ClickHouseError, OSError."""
    return record.listed(clickhouse, ERASE, REVEAL)


def held_by(admin: ClickHouse, pseudonyms: Pseudonyms, subject: Subject) -> list[Hold]:
    """Returns the legal holds in force that select a row of a subject, also by its name.

    If there is an archive, every hold counts: the archive has rows that ClickHouse has deleted.
    """
    in_force = holds.in_force(admin)
    if in_force and archive.tables(admin):
        return in_force
    stored = holds.stored_columns(admin)
    return [
        hold for hold in in_force if _selects(admin, _translated(hold.selector, pseudonyms), subject, stored)
    ]


def _translated(selector: Selector, pseudonyms: Pseudonyms) -> Selector:
    """Adds the pseudonyms of the names of a selector: holds name users, and rows have pseudonyms."""
    added = {
        kind: tuple({*names, *(pseudonyms.of(kind, name) for name in names)})
        for kind in (USER, CLIENT)
        if (names := selector.values.get(kind))
    }
    return replace(selector, values={**selector.values, **added})


def _selects(
    admin: ClickHouse, selector: Selector, subject: Subject, stored: Mapping[str, frozenset[str]]
) -> bool:
    names = [subject.pseudonym, *(columns.values(subject) if subject.name else [])]
    for table in columns.COVERED:
        condition = selector.condition(table, stored[table], "event_time")
        if condition is None:
            continue
        where = f"{condition} AND ({columns.has(table, subject.kind, names)})"
        if admin.rows(f"SELECT 1 FROM tailrace.{table} WHERE {where} LIMIT 1"):
            return True
    return False


def _has_rows(admin: ClickHouse, subject: Subject) -> bool:
    """Whether a covered table has a row with the pseudonym."""
    wanted = {table: columns.has(table, subject.kind, [subject.pseudonym]) for table in columns.COVERED}
    return any(
        admin.rows(f"SELECT 1 FROM tailrace.{table} WHERE {its} LIMIT 1") for table, its in wanted.items()
    )


def clear_rows(admin: ClickHouse, subject: Subject) -> dict[str, int]:
    """Returns by table how many rows contain the name of a subject, without tables that have none."""
    counts = {
        table: admin.rows(f"SELECT count() AS rows FROM tailrace.{table} WHERE {condition}")[0]["rows"]
        for table, condition in columns.in_clear(subject).items()
    }
    return {table: int(str(rows)) for table, rows in counts.items() if rows}


def require_no_name(subject: Subject, *texts: str) -> None:
    """The record is never deleted. Raises SubjectError if case or reason contain the name as a word."""
    word = rf"(?<!\w){re.escape(subject.name)}(?!\w)"
    if subject.name and re.search(word, "\n".join(texts), re.IGNORECASE):
        raise SubjectError("case and reason are never deleted: write them without the name of the subject")


def _record(auditor: ClickHouse, action: str, subject: Subject, order: Order) -> None:
    details = {"kind": subject.kind, "pseudonym": subject.pseudonym}
    record.append(auditor, action, order.actor, order.reason, [details], record.new_id(), order.case)


def _await_inserts(admin: ClickHouse) -> None:
    """An insert that began before the erasure was recorded may still add the name."""
    if not running_inserts.await_end(admin, INSERT_SECONDS):
        raise SubjectError(f"an insert has been running for more than {INSERT_SECONDS} s; repeat the command")
