"""The keys of the vault, and its names.

Each name is encrypted with a data key, and the data key with the vault's public key.
The jobs have the public key only. The private key opens names, and can be kept away from this machine.
"""

import base64
import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from tailrace.config.home import Home
from tailrace.erasure.pseudonyms import KEY_BYTES, Pseudonyms, SubjectError

PSEUDONYM_KEY = "pseudonym-key"
PUBLIC_KEY = "subject-vault-public.pem"
PRIVATE_KEY = "subject-vault-private.pem"
RSA_BITS = 3072
_NONCE_BYTES = 12
_OAEP = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)


class VaultError(SubjectError):
    """A key is missing or is another one; the message is shown to the user."""


@dataclass(frozen=True)
class KeyFiles:
    """The files that the jobs need."""

    pseudonyms: Path
    public: Path


def make_keys(home: Home) -> KeyFiles:
    """Returns the files of the keys, and creates those that are missing.

    Without a private key, the public key remains that of the key that somebody has moved elsewhere.
    """
    files = KeyFiles(
        home.secret_file(PSEUDONYM_KEY, lambda: secrets.token_hex(KEY_BYTES)), home.secrets / PUBLIC_KEY
    )
    if not files.public.exists():
        private = home.secret_file(PRIVATE_KEY, _new_private_key)
        home.secret_file(PUBLIC_KEY, lambda: _public_key(private.read_bytes()))
    return files


def is_used(secrets_: Path) -> bool:
    """Whether rows may contain pseudonyms, of an installation with this directory of keys."""
    return (secrets_ / PSEUDONYM_KEY).exists()


def pseudonyms(secrets_: Path) -> Pseudonyms:
    """Returns the pseudonyms of the key in a directory. Raises VaultError if they were never switched on."""
    if not is_used(secrets_):
        raise VaultError(f"there are no pseudonyms without {PSEUDONYM_KEY} in {secrets_} (docs/ERASURE.md)")
    return Pseudonyms(bytes.fromhex((secrets_ / PSEUDONYM_KEY).read_text().strip()))


def open_name(private_key: bytes, pseudonym: str, wrapped_key: str, sealed_name: str) -> str:
    """Returns the name of a row of the vault. `private_key` is PEM. Raises VaultError."""
    try:
        vault = load_pem_private_key(private_key, None)
        if not isinstance(vault, rsa.RSAPrivateKey):
            raise ValueError("it is no RSA key")
        key = vault.decrypt(base64.b64decode(wrapped_key), _OAEP)
        sealed = base64.b64decode(sealed_name)
        nonce, encrypted = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        return AESGCM(key).decrypt(nonce, encrypted, pseudonym.encode()).decode()
    except (ValueError, TypeError, InvalidTag) as error:
        raise VaultError(
            f"the private key does not open the name of {pseudonym}: {error or 'it is another key'}"
        ) from None


def _new_private_key() -> str:
    key = rsa.generate_private_key(65537, RSA_BITS)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _public_key(private_key: bytes) -> str:
    key = load_pem_private_key(private_key, None)
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
