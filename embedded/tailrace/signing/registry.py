"""The registered public keys of hosts: keys/hosts.json of the home directory (schemas/host-keys.schema.json).

A key is never removed, because it proves what was signed before its revocation.
"""

import base64
import binascii
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from tailrace.config.home import Home
from tailrace.errors import ReportedError

ID_DIGITS = 16
KEY_BYTES = 32


class HostKeyError(ReportedError):
    """The registry cannot be read or changed; the message is one sentence."""


@dataclass(frozen=True)
class HostKey:
    """A registered public key. Times are ISO 8601, UTC."""

    host: str
    public_key: str
    """The raw key, 32 bytes, in base64."""
    registered_at: str
    replaces: str | None = None
    """Id of the host's key before it."""
    revoked_at: str | None = None

    @property
    def id(self) -> str:
        return key_id(self.public_key)


def key_id(public_key: str) -> str:
    """Returns the id of a public key in base64. Raises HostKeyError."""
    try:
        raw = base64.b64decode(public_key, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != KEY_BYTES:
        raise HostKeyError(f"expected an Ed25519 public key, 32 bytes in base64, found {public_key!r}")
    return hashlib.sha256(raw).hexdigest()[:ID_DIGITS]


class Registry:
    """The keys of one installation."""

    def __init__(self, home: Home, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._directory = home.root / "keys"
        self.file = self._directory / "hosts.json"
        self._now = now

    def keys(self) -> dict[str, HostKey]:
        """Returns the keys by their ids, in the order of their registration. Raises HostKeyError."""
        return parse(self.text(), str(self.file))

    def text(self) -> str:
        """Returns the content of the file, which is also the record of Kafka."""
        try:
            return self.file.read_text()
        except FileNotFoundError:
            return "{}"

    def add(self, host: str, public_key: str, replaces: str = "") -> HostKey:
        """Registers a key; a second time changes nothing. `replaces` is an id or a prefix of one.

        Raises HostKeyError.
        """
        id_ = key_id(public_key)
        with self._changed() as keys:
            if id_ in keys:
                return _same(keys[id_], host)
            before = _found(keys, replaces) if replaces else None
            if before and before.host != host:
                raise HostKeyError(f"the key {before.id} belongs to {before.host}, not to {host}")
            added = HostKey(host, public_key, self._time(), before.id if before else None)
            keys[id_] = added
        return added

    def revoke(self, id_: str) -> HostKey:
        """Revokes a key by its id or a prefix of it. Raises HostKeyError."""
        with self._changed() as keys:
            found = _found(keys, id_)
            if found.revoked_at:
                return found
            keys[found.id] = replace(found, revoked_at=self._time())
        return keys[found.id]

    def _time(self) -> str:
        return f"{self._now().astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"

    @contextmanager
    def _changed(self) -> Iterator[dict[str, HostKey]]:
        """Yields the keys and stores them, unless an error is raised; one process at a time."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._directory / ".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            keys = self.keys()
            before = dict(keys)
            yield keys
            if keys != before:
                self._write(keys)

    def _write(self, keys: Mapping[str, HostKey]) -> None:
        draft = self.file.with_suffix(".new")
        with draft.open("w") as file:
            file.write(json.dumps({id_: asdict(key) for id_, key in keys.items()}, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.file)


def parse(text: str, where: str) -> dict[str, HostKey]:
    """Reads registered keys by their ids. Raises HostKeyError if an id is not that of its key."""
    try:
        keys = {id_: HostKey(**entry) for id_, entry in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise HostKeyError(f"{where} is damaged: {error}") from None
    for id_, key in keys.items():
        if key.id != id_:
            raise HostKeyError(f"{where}: the key of the id {id_} has the id {key.id}")
    return keys


def _same(key: HostKey, host: str) -> HostKey:
    if key.host != host:
        raise HostKeyError(f"the key {key.id} is registered for {key.host} already")
    if key.revoked_at:
        raise HostKeyError(f"the key {key.id} was revoked at {key.revoked_at}; create another one")
    return key


def _found(keys: Mapping[str, HostKey], prefix: str) -> HostKey:
    found = [key for id_, key in keys.items() if id_.startswith(prefix)]
    if len(found) != 1:
        raise HostKeyError(f"{'no key begins' if not found else f'{len(found)} keys begin'} with {prefix!r}")
    return found[0]
