"""The key of this machine: created and registered by the stack itself."""

import base64
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.signing.registry import HostKey, HostKeyError, Registry, key_id

NEXT = ".next"
"""Suffix of the key that the signer changes to; as in collectors/census/tailrace_signing."""
USED = ".used"
"""Suffix of the file with the id of the key that has signed."""


class LocalKey:
    """The private key of one signer of this installation: the census or the puller."""

    def __init__(self, home: Home, name: str, host: str, state: Path | None = None) -> None:
        """`state` is the file with the last number of the signer, if it has one."""
        self.host = host
        self._home = home
        self._name = f"{name}-ed25519.pem"
        self._state = state
        self._registry = Registry(home)

    @property
    def file(self) -> Path:
        """The file of the private key, mode 0600."""
        return self._home.secrets / self._name

    def ensure(self) -> HostKey:
        """Returns the registered key, created on first use.

        A key that has signed and whose state is lost is replaced: it would use numbers again. So is a key
        that was revoked; the census must not run meanwhile. Raises HostKeyError, OSError.
        """
        with self._locked():
            before = ""
            if self.file.exists() and (self._lost_state() or self._is_revoked()):
                before = self._id(self.file)
                Path(f"{self.file}{NEXT}").unlink(missing_ok=True)
                _draft(self.file).replace(self.file)
            self._home.secret_file(self._name, _new_pem)
            self._forget_other_key()
            for file in (self.file, Path(f"{self.file}{NEXT}")):
                if file.exists():
                    registered = self._registry.add(self.host, public_key(file), self._known(before))
            return registered

    def rotate(self) -> HostKey:
        """Registers a new key, and leaves it for the signer, which signs the change with the old one.

        Raises HostKeyError if the signer has not taken the last new key yet.
        """
        before = self.ensure()
        following = Path(f"{self.file}{NEXT}")
        with self._locked():
            if following.exists():
                raise HostKeyError(
                    f"{self.host} has not signed its last rotation yet; is the census running?"
                )
            draft = _draft(following)
            registered = self._registry.add(self.host, public_key(draft), before.id)
            draft.replace(following)
        return registered

    def _lost_state(self) -> bool:
        if self._state is None or self._state.exists():
            return False
        used = Path(f"{self.file}{USED}")
        return used.exists() and used.read_text() == self._id(self.file)

    def _is_revoked(self) -> bool:
        known = self._registry.keys().get(self._signing_id())
        return bool(known and known.revoked_at)

    def _signing_id(self) -> str:
        """Returns the id of the key that signs now, which is the next one shortly before it is the current
        one."""
        try:
            return json.loads(self._state.read_text())["key"] if self._state else self._id(self.file)
        except (OSError, ValueError, KeyError):
            return self._id(self.file)

    def _forget_other_key(self) -> None:
        """Removes the state of a key that is not here any more: the new key begins with number 1."""
        files = [file for file in (self.file, Path(f"{self.file}{NEXT}")) if file.exists()]
        if self._state and self._signing_id() not in map(self._id, files):
            self._state.unlink(missing_ok=True)

    def _known(self, id_: str) -> str:
        registered = self._registry.keys()
        return id_ if id_ in registered else ""

    def _id(self, file: Path) -> str:
        return key_id(public_key(file))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._home.run / f"{self._name}-key.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def of_census(home: Home, settings: Settings) -> LocalKey:
    """Returns the key with which the census of this machine signs."""
    host = settings.host or socket.gethostname()
    return LocalKey(home, "host", host, home.data("census") / "signing.json")


def of_pull(home: Home, name: str) -> LocalKey:
    """Returns the key of the puller of this name; its state is in Kafka."""
    return LocalKey(home, "host-pull", f"pull-{name}")


def public_key(file: Path) -> str:
    """Returns the raw public key in base64 of a private key in PEM form. Raises HostKeyError, OSError."""
    try:
        key = load_pem_private_key(file.read_bytes(), None)
    except (ValueError, TypeError):
        raise HostKeyError(f"{file} contains no private key in PEM form") from None
    return base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def _draft(file: Path) -> Path:
    """Writes a new key beside its later place."""
    draft = file.with_name(f".{file.name}.new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(_new_pem())
        opened.flush()
        os.fsync(opened.fileno())
    return draft


def _new_pem() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
