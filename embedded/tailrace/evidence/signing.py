"""The installation's Ed25519 key (RFC 8032), and signatures with it."""

import hashlib
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from tailrace.config.home import Home

SECRET = "evidence-ed25519.pem"


class SigningKeyError(ValueError):
    """The input is no Ed25519 key; the message is shown to the user."""


def installation_key(home: Home) -> Ed25519PrivateKey:
    """Returns the key of this installation, created on first use."""
    return read_private(key_file(home))


def key_file(home: Home) -> Path:
    """Returns the file of the key in the secrets of this installation, created on first use, mode 0600."""
    return home.secret_file(SECRET, _new_key)


def read_private(file: Path) -> Ed25519PrivateKey:
    """Reads a private key in PEM format. Raises SigningKeyError, OSError."""
    try:
        key = load_pem_private_key(file.read_bytes(), None)
    except (ValueError, TypeError):
        raise SigningKeyError(f"{file} contains no private key in PEM form without a password") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise SigningKeyError(f"{file} contains no Ed25519 key")
    return key


def public_pem(key: Ed25519PrivateKey) -> bytes:
    """Returns the public key in PEM format."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def read_public(pem: bytes) -> Ed25519PublicKey:
    """Parses a public key in PEM format. Raises SigningKeyError."""
    try:
        key = load_pem_public_key(pem)
    except ValueError:
        raise SigningKeyError("expected a public key in PEM form (-----BEGIN PUBLIC KEY-----)") from None
    if not isinstance(key, Ed25519PublicKey):
        raise SigningKeyError("expected an Ed25519 public key, found another kind of key")
    return key


def fingerprint(key: Ed25519PublicKey) -> str:
    """Returns SHA-256 of the key's DER form: `openssl pkey -pubin -in KEY -outform DER | sha256sum`."""
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


def is_signed(key: Ed25519PublicKey, signature: bytes, message: bytes) -> bool:
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _new_key() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
