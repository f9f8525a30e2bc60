"""The names and keys of an installation's transparency log and of its witness, created on first use."""

import secrets
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tailrace.config.home import Home
from tailrace.evidence import signing
from tailrace.transparency import files
from tailrace_verify import notes
from tailrace_verify.notes import Key

LOG_KEY = "transparency-ed25519.pem"
WITNESS_KEY = "witness-ed25519.pem"
ORIGIN = "origin"
LOG_VKEY = "log.vkey"
WITNESSES = "witnesses"
WITNESS_DIRECTORY = "witness"


def directory(home: Home) -> Path:
    """The directory of the log: tiles, checkpoint, and the public keys of the log and its witnesses."""
    return home.root / "transparency"


def new_pem() -> str:
    """Returns a new private Ed25519 key in PEM format."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def origin(home: Home) -> str:
    """Returns the log's origin, `tailrace/` and the installation's random id."""
    file = directory(home) / ORIGIN
    if not file.exists():
        files.write(file, f"tailrace/{secrets.token_hex(8)}\n".encode())
    return file.read_text().strip()


def prepare_log(home: Home) -> Path:
    """Creates the log's key and its public file; returns the file of the private key."""
    file = home.secret_file(LOG_KEY, new_pem)
    key = notes.key_of(origin(home), signing.read_private(file))
    _write_once(directory(home) / LOG_VKEY, key)
    return file


def prepare_witness(home: Home) -> Path:
    """Creates the local witness's key; returns the file of the private key."""
    file = home.secret_file(WITNESS_KEY, new_pem)
    _write_once(home.root / WITNESS_DIRECTORY / "witness.vkey", witness_key(home))
    return file


def witness_key(home: Home) -> Key:
    """Returns the public key of this machine's witness."""
    private = signing.read_private(home.secret_file(WITNESS_KEY, new_pem))
    return notes.key_of(f"{origin(home)}/witness", private, notes.COSIGNATURE)


def _write_once(file: Path, key: Key) -> None:
    if not file.exists():
        files.write(file, f"{key.vkey()}\n".encode())
