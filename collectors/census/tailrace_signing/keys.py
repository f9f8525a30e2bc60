"""The Ed25519 key of a host (RFC 8032)."""

import base64
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONTEXT = b"tailrace-signed-range-v1\n"
"""The signed bytes begin with it, so that no signature has another meaning."""

KEY_ID_DIGITS = 16
NEXT = ".next"
"""Suffix of the file with the key that replaces the current one."""


class KeyFileError(ValueError):
    """The file contains no usable key; the message states the reason."""


@dataclass(frozen=True)
class HostKey:
    """A private key and its public data."""

    id: str
    """The first 16 hexadecimal digits of the SHA-256 of the raw public key."""
    public_key: str
    """The raw public key, 32 bytes, in base64."""
    private: Any

    def sign(self, payload: str) -> str:
        """Returns the signature of a payload in base64."""
        return base64.b64encode(self.private.sign(CONTEXT + payload.encode())).decode()


def key_id(public_key: bytes) -> str:
    """Returns the id of a raw public key."""
    return hashlib.sha256(public_key).hexdigest()[:KEY_ID_DIGITS]


def read(file: Path) -> HostKey:
    """Reads a private key in PEM form. Raises KeyFileError, OSError."""
    pem = file.read_bytes()
    ed25519, serialization = _library()
    try:
        private = serialization.load_pem_private_key(pem, None)
    except (ValueError, TypeError):
        raise KeyFileError(f"{file} contains no private key in PEM form without a password") from None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise KeyFileError(f"{file} contains no Ed25519 key")
    public = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return HostKey(key_id(public), base64.b64encode(public).decode(), private)


def new_pem() -> str:
    """Returns a new private key in PEM form. Raises KeyFileError."""
    ed25519, serialization = _library()
    return (
        ed25519.Ed25519PrivateKey.generate()
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        .decode()
    )


def create(file: Path) -> HostKey:
    """Creates a key in a new file of mode 0600. Raises KeyFileError, FileExistsError, OSError."""
    pem = new_pem()
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(pem)
        opened.flush()
        os.fsync(opened.fileno())
    return read(file)


def is_valid(public_key: bytes, payload: str, signature: str) -> bool:
    """Returns whether this key signed the payload. Raises ValueError for a public key of a wrong length."""
    from cryptography.exceptions import InvalidSignature

    public = _library()[0].Ed25519PublicKey.from_public_bytes(public_key)
    try:
        public.verify(base64.b64decode(signature, validate=True), CONTEXT + payload.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _library() -> "tuple[Any, Any]":
    """Returns two modules of `cryptography`: without a key the census needs no library."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise KeyFileError(
            "signing needs the Python library cryptography: package python3-cryptography"
        ) from None
    return ed25519, serialization
