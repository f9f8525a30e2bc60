"""The installation's Ed25519 key (RFC 8032), and signatures with it."""

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
from tailrace_verify.pem import SigningKeyError, fingerprint, is_signed, read_public

__all__ = (
    "SigningKeyError",
    "fingerprint",
    "installation_key",
    "is_signed",
    "key_file",
    "public_pem",
    "read_private",
    "read_public",
)

SECRET = "evidence-ed25519.pem"


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


def _new_key() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
