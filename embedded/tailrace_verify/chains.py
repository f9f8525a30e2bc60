"""Verifies signed ranges: signatures, the chain of each host key, and the contiguity of each file.

A chain is the records of one host key and of those that replaced it by a signed rotation. Records are ordered
by sequence, not by their order in the log: a collector may send them again or late.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tailrace_verify.files_of_hosts import RangesOfFiles, first_byte
from tailrace_verify.findings import NOTED, Report, Status
from tailrace_verify.leaves import Leaves, SignedRange
from tailrace_verify.trust import HostKey, key_id

PREFIX = b"tailrace-signed-range-v1\n"
CHECK = "signed ranges"
CLOCK_MICROSECONDS = 2_000_000
"""How far a clock goes back when it is set by a time server."""
CLAIMED = ("sequence", "path", "from", "to")


@dataclass(frozen=True)
class Record:
    """A payload whose signature is right."""

    leaf: int
    key: str
    sequence: int
    sha256: str
    """Of the payload."""
    payload: Mapping[str, object]


@dataclass
class _Chain:
    host: str
    records: dict[int, Record] = field(default_factory=dict)


def verify(held: Leaves, hosts: Mapping[str, HostKey] | None, is_whole: bool, report: Report) -> None:
    """Verifies all records. `is_whole`: the log is complete from its first leaf on, so that chains begin
    with 1."""
    ranges = held.ranges
    _report_mismatches(held, report)
    if ranges and hosts is None:
        report.undetermined(CHECK, f"{len(ranges)} signed ranges, but no host keys to verify them with")
        return
    known = dict(hosts or {})
    records = _verified(ranges, known, report)
    files: dict[str, RangesOfFiles] = {}
    for chain in _chains(records, known, report):
        _check_chain(chain, is_whole, report)
        of_host = files.setdefault(chain.host, RangesOfFiles(is_whole, report))
        for record in sorted(chain.records.values(), key=lambda record: record.sequence):
            of_host.add(record.payload, leaf=record.leaf, key=record.key, sequence=record.sequence)


def _report_mismatches(held: Leaves, report: Report) -> None:
    """A recorded mismatch stays one: who has the log's key could add a leaf that denies it."""
    if not held.mismatches:
        return
    signed = {hashlib.sha256(_message(each)).hexdigest(): each for each in held.ranges}
    for each in held.mismatches:
        place = _claimed(signed[each.payload_sha256], "host") if each.payload_sha256 in signed else {}
        if each.differing:
            place |= dict(zip(("from", "to"), each.differing, strict=True))
        where = "bytes {from} to {to} of {path}".format(**{"from": "?", "to": "?", "path": "a log", **place})
        report.tampered(
            CHECK,
            f"other bytes arrived than record {each.sequence} signs: {where}",
            **{"leaf": each.index, "key": each.key, "sequence": each.sequence, **place},
        )


def _message(each: SignedRange) -> bytes:
    return each.payload.encode("utf-8", "surrogatepass")


def _verified(
    ranges: Sequence[SignedRange], known: dict[str, HostKey], report: Report
) -> dict[str, list[Record]]:
    """Returns the records by key. Keys of rotations are added to the known ones; so rotations go first."""
    found: dict[str, list[Record]] = {}
    waiting = list(ranges)
    while waiting:
        now = [each for each in waiting if each.key in known]
        later = [each for each in waiting if each.key not in known]
        for each in now:
            if record := _record(each, known[each.key], report):
                found.setdefault(each.key, []).append(record)
                _learn(record, known)
        if len(later) == len(waiting):
            break
        waiting = later
    _report_unknown([each for each in waiting if each.key not in known], known, report)
    return found


def _record(each: SignedRange, key: HostKey, report: Report) -> Record | None:
    message = _message(each)
    place = {"leaf": each.index, "host": key.host, "key": each.key}
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(each.signature, PREFIX + message)
        payload = json.loads(each.payload)
        sequence = payload["sequence"]
        if payload["host"] != key.host or type(sequence) is not int or sequence < 1:
            raise ValueError(f"expected host {key.host} and a sequence from 1")
        _check_revoked(payload, key, place, report)
    except InvalidSignature:
        report.tampered(CHECK, f"entry {each.index} is not signed by {key.host}", **place, **_claimed(each))
        return None
    except (ValueError, KeyError, TypeError) as error:
        report.tampered(CHECK, f"entry {each.index}: the payload is malformed: {error}", **place)
        return None
    report.counts["signed ranges"] += 1
    return Record(each.index, each.key, sequence, hashlib.sha256(message).hexdigest(), payload)


def _claimed(each: SignedRange, *more: str) -> dict[str, object]:
    """The byte range that a record which is not signed claims to be of, to help the reader."""
    try:
        payload = json.loads(each.payload)
        return _place_of(payload, *CLAIMED, *more)
    except (ValueError, TypeError):
        return {}


def _place_of(payload: Mapping[str, object], *names: str) -> dict[str, object]:
    """Returns these fields; `from` is the start of the first range."""
    found = {name: payload[name] for name in names if name in payload}
    return {**found, "from": first_byte(payload)} if "from" in found else found


def _check_revoked(payload: Mapping, key: HostKey, place: Mapping, report: Report) -> None:
    if not key.revoked_at:
        return
    revoked = datetime.fromisoformat(key.revoked_at).timestamp() * 1e6
    if payload.get("at", 0) >= revoked:
        report.tampered(CHECK, f"signed after the key was revoked at {key.revoked_at}", **place)


def _learn(record: Record, known: dict[str, HostKey]) -> None:
    """Adds the key of a rotation, which the old key has signed."""
    if "new_key" not in record.payload:
        return
    try:
        public = base64.b64decode(str(record.payload["new_key"]), validate=True)
    except binascii.Error:
        return
    if len(public) == 32:
        known.setdefault(key_id(public), HostKey(str(record.payload["host"]), public, record.key))


def _report_unknown(left: Sequence[SignedRange], known: Mapping[str, HostKey], report: Report) -> None:
    hosts = {key.host for key in known.values()}
    for each in left:
        claimed = _claimed(each)
        try:
            host = str(json.loads(each.payload).get("host"))
        except (ValueError, AttributeError):
            host = ""
        place = {"leaf": each.index, "host": host, "key": each.key, **claimed}
        if host in hosts:
            report.tampered(CHECK, f"entry {each.index}: {host} never registered the key {each.key}", **place)
        else:
            report.undetermined(CHECK, f"entry {each.index}: unknown key {each.key} of {host}", **place)


def _chains(
    records: Mapping[str, Sequence[Record]], known: Mapping[str, HostKey], report: Report
) -> list[_Chain]:
    chains: dict[str, _Chain] = {}
    for key in records:
        chain = chains.setdefault(_first_key(key, known), _Chain(known[key].host))
        for record in records[key]:
            before = chain.records.setdefault(record.sequence, record)
            if before is not record:
                _report_twice(before, record, chain.host, report)
    return sorted(chains.values(), key=lambda chain: min(each.leaf for each in chain.records.values()))


def _first_key(key: str, known: Mapping[str, HostKey]) -> str:
    """Returns the oldest key that `key` replaces through others."""
    passed = {key}
    while (older := known[key].replaces) in known and older not in passed:
        passed.add(older)
        key = older
    return key


def _report_twice(before: Record, record: Record, host: str, report: Report) -> None:
    """A repeated record claims nothing new: collectors send at least once. Another is a fork."""
    same = before.sha256 == record.sha256
    what = "repeats" if same else "has the sequence of"
    report.add(
        NOTED if same else Status.TAMPERED,
        CHECK,
        f"entry {record.leaf} {what} entry {before.leaf}: {record.sequence} of {host}",
        leaf=record.leaf,
        host=host,
        key=record.key,
        sequence=record.sequence,
        **_place_of(record.payload, "path", "from", "to"),
    )


def _check_chain(chain: _Chain, is_whole: bool, report: Report) -> None:
    records = sorted(chain.records.values(), key=lambda record: record.sequence)
    if is_whole and records[0].sequence > 1:
        _report_hole(chain.host, 1, records[0], report)
    elif is_whole and records[0].payload.get("previous"):
        report.tampered(CHECK, "the first record of a key names another before it", leaf=records[0].leaf)
    for before, after in pairwise(records):
        if after.sequence > before.sequence + 1:
            _report_hole(chain.host, before.sequence + 1, after, report)
        elif after.payload.get("previous") != before.sha256:
            report.tampered(
                CHECK,
                f"record {after.sequence} of {chain.host} does not follow record {before.sequence}",
                leaf=after.leaf,
                host=chain.host,
                key=after.key,
                sequence=after.sequence,
            )
        _note_clock(before, after, chain.host, report)
        if after.key == before.key and "new_key" in before.payload:
            report.tampered(
                CHECK, "signed with a key after its rotation", leaf=after.leaf, host=chain.host, key=after.key
            )


def _note_clock(before: Record, after: Record, host: str, report: Report) -> None:
    """Notes that the clock of a host went back: later times may be wrong, the order of records is not."""
    times = before.payload.get("at"), after.payload.get("at")
    if not all(type(time) is int for time in times):
        return
    back = times[0] - times[1]
    if back <= CLOCK_MICROSECONDS:
        return
    report.add(
        NOTED,
        CHECK,
        f"the clock of {host} went back by {back // 1_000_000} s before record {after.sequence}",
        leaf=after.leaf,
        host=host,
        key=after.key,
        sequence=after.sequence,
    )


def _report_hole(host: str, first: int, after: Record, report: Report) -> None:
    last = after.sequence - 1
    numbers = f"record {first}" if first == last else f"records {first} to {last}"
    verb = "is" if first == last else "are"
    report.missing(
        CHECK,
        f"{numbers} of {host} {verb} not recorded",
        after.payload,
        leaf=after.leaf,
        host=host,
        key=after.key,
        sequence=first,
    )
