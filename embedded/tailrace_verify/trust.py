"""The public keys that a verification trusts, and whether they came from the auditor or from the bundle.

A key that comes with the bundle proves nothing about its owner: the maker of the bundle can have made it.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tailrace_verify import notes
from tailrace_verify.files import Files
from tailrace_verify.findings import Report
from tailrace_verify.notes import Key, NoteError

LOG_KEY, WITNESS_KEYS, HOST_KEYS = "keys/log.vkey", "keys/witnesses", "keys/hosts.json"
CHECK = "keys"


class KeyFileError(ValueError):
    """A file of keys cannot be read; the message states why."""


@dataclass(frozen=True)
class HostKey:
    """A registered key; times are ISO 8601 or empty."""

    host: str
    public: bytes
    replaces: str = ""
    revoked_at: str = ""


@dataclass(frozen=True)
class Trust:
    """Keys that the auditor has from another source than the bundle; None and empty: none."""

    log: Key | None = None
    witnesses: Sequence[Key] = ()
    hosts: Mapping[str, HostKey] | None = None
    needs_witness: bool = True
    """False: the auditor accepts checkpoints that no known witness has cosigned."""
    seen: Sequence[bytes] = field(default=())
    """Checkpoints that the auditor has kept or asked a witness for."""


def key_id(public: bytes) -> str:
    """Returns the id of a host key: 16 hex digits."""
    return hashlib.sha256(public).hexdigest()[:16]


def parse_hosts(text: bytes | str) -> dict[str, HostKey]:
    """Parses hosts.json. Raises KeyFileError."""
    try:
        return host_keys(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise KeyFileError(f"host keys: {error}") from None


def host_keys(document: object) -> dict[str, HostKey]:
    """Reads the registered keys by id. Raises KeyFileError."""
    if not isinstance(document, dict):
        raise KeyFileError("host keys: expected an object")
    return {str(name): _host_key(name, entry) for name, entry in document.items()}


def _host_key(name: str, entry: object) -> HostKey:
    try:
        public = base64.b64decode(entry["public_key"], validate=True)
        key = HostKey(str(entry["host"]), public, entry.get("replaces") or "", entry.get("revoked_at") or "")
    except (KeyError, TypeError, AttributeError, binascii.Error, ValueError):
        raise KeyFileError(f"host key {name}: expected host and public_key") from None
    if key_id(public) != name or len(public) != 32:
        raise KeyFileError(f"host key {name}: its public key has the id {key_id(public)}")
    return key


def completed(trust: Trust, files: Files, report: Report) -> Trust:
    """Returns the keys to verify with. Compares those of the bundle with the auditor's, and takes them where
    the auditor has none; the report then says so."""
    return Trust(
        _log_key(trust, files, report),
        _witnesses(trust, files, report),
        _hosts(trust, files, report),
        trust.needs_witness,
        trust.seen,
    )


def _log_key(trust: Trust, files: Files, report: Report) -> Key | None:
    own = _vkey(files, LOG_KEY, report)
    if trust.log and own and own != trust.log:
        report.tampered(CHECK, "the bundle names another key of the log than you gave", file=LOG_KEY)
    if trust.log:
        return trust.log
    _not_given(report, own, "the log's key")
    return own


def _witnesses(trust: Trust, files: Files, report: Report) -> Sequence[Key]:
    own = [key for name in files.below(WITNESS_KEYS) if (key := _vkey(files, name, report))]
    if trust.witnesses:
        for key in own:
            if key.name in {each.name for each in trust.witnesses} and key not in trust.witnesses:
                report.tampered(
                    CHECK,
                    f"the bundle names another key of the witness {key.name} than you gave",
                    file=WITNESS_KEYS,
                )
        return trust.witnesses
    if trust.needs_witness:
        _not_given(report, own, "a witness's key")
    return own


def _hosts(trust: Trust, files: Files, report: Report) -> Mapping[str, HostKey] | None:
    own = _hosts_of(files, report)
    if trust.hosts is None:
        if own is not None:
            _not_given(report, own, "the host keys")
        return own
    for name, key in (own or {}).items():
        known = trust.hosts.get(name)
        if known and (known.host, known.public) != (key.host, key.public):
            report.tampered(
                CHECK, f"key {name} is of {known.host}, not of {key.host}", file=HOST_KEYS, key=name
            )
        elif not known and key.host in {each.host for each in trust.hosts.values()} and not key.replaces:
            report.tampered(
                CHECK,
                f"key {name} of {key.host} is not among the keys that you gave",
                file=HOST_KEYS,
                key=name,
            )
    return trust.hosts


def _hosts_of(files: Files, report: Report) -> dict[str, HostKey] | None:
    if (text := files.read(HOST_KEYS)) is None:
        return None
    try:
        return parse_hosts(text)
    except KeyFileError as error:
        report.tampered(CHECK, str(error), file=HOST_KEYS)
        return {}


def _vkey(files: Files, name: str, report: Report) -> Key | None:
    if (text := files.read(name)) is None:
        return None
    try:
        return notes.parse_vkey(text.decode())
    except (NoteError, UnicodeDecodeError) as error:
        report.tampered(CHECK, f"no verifier key: {error}", file=name)
        return None


def _not_given(report: Report, own: object, what: str) -> None:
    where = "is the bundle's own; give the one that you have from another source" if own else "is missing"
    report.undetermined(CHECK, f"{what} {where}")
