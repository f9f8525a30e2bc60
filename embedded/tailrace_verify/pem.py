"""Ed25519 public keys in PEM form, as evidence bundles are signed with (RFC 8032)."""

import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key


class SigningKeyError(ValueError):
    """The input is no Ed25519 key; the message is shown to the user."""


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
