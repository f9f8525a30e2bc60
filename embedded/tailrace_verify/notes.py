"""Signed notes, checkpoints of transparency logs and cosignatures: C2SP signed-note, tlog-checkpoint and
tlog-cosignature.

A note is UTF-8 text and its signature lines. Two kinds of keys are known: Ed25519 (0x01), which signs the
text, and witnesses' Ed25519 (0x04, cosignature/v1), which signs the text with a time.
"""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519, COSIGNATURE = 0x01, 0x04
KINDS = (ED25519, COSIGNATURE)
PREFIX = "\N{EM DASH} "
MAX_SIGNATURES = 64
MAX_BYTES = 1 << 20


class NoteError(ValueError):
    """No note, checkpoint or key; the message states why."""


@dataclass(frozen=True)
class Signature:
    """One signature line: `signature` is without the four bytes of the key ID."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True)
class Note:
    text: str
    signatures: Sequence[Signature]


@dataclass(frozen=True)
class Checkpoint:
    """The tree head of a log: origin, number of leaves and root."""

    origin: str
    size: int
    root: bytes
    extensions: Sequence[str] = ()

    def text(self) -> str:
        lines = (self.origin, str(self.size), base64.b64encode(self.root).decode(), *self.extensions)
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class Key:
    """A public key with its name; `kind` is ED25519 or COSIGNATURE."""

    name: str
    kind: int
    public: bytes

    @property
    def key_id(self) -> bytes:
        return key_id(self.name, self.kind, self.public)

    def vkey(self) -> str:
        encoded = base64.b64encode(bytes([self.kind]) + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{encoded}"


def key_id(name: str, kind: int, public: bytes) -> bytes:
    """Returns the four bytes that a signature line begins with."""
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]


def key_of(name: str, private: Ed25519PrivateKey, kind: int = ED25519) -> Key:
    """Returns the public key of a private one."""
    _check_name(name)
    return Key(name, kind, private.public_key().public_bytes_raw())


def parse_vkey(text: str) -> Key:
    """Parses `NAME+KEY ID+BASE64`. Raises NoteError."""
    parts = text.strip().split("+", 2)
    if len(parts) != 3:
        raise NoteError("expected a verifier key: NAME+KEY ID+BASE64")
    _check_name(parts[0])
    encoded = _base64(parts[2], "the key")
    if encoded[:1] not in (bytes([kind]) for kind in KINDS) or len(encoded) != 33:
        raise NoteError("expected an Ed25519 key (0x01) or a cosignature key (0x04) of 32 bytes")
    key = Key(parts[0], encoded[0], encoded[1:])
    if key.key_id.hex() != parts[1]:
        raise NoteError(f"the key ID is {key.key_id.hex()}, not {parts[1]}")
    return key


def parse(data: bytes) -> Note:
    """Parses a signed note without verifying it. Raises NoteError."""
    if len(data) > MAX_BYTES:
        raise NoteError(f"{len(data)} bytes: too long for a note")
    try:
        whole = data.decode()
    except UnicodeDecodeError:
        raise NoteError("not UTF-8") from None
    if any(ord(sign) < 0x20 and sign != "\n" for sign in whole):
        raise NoteError("contains control characters")
    at = whole.rfind("\n\n")
    if at < 0 or not whole.endswith("\n") or at + 2 >= len(whole):
        raise NoteError("expected a text, an empty line and signature lines")
    lines = whole[at + 2 : -1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise NoteError(f"{len(lines)} signatures: too many")
    return Note(whole[: at + 1], tuple(_signature(line) for line in lines))


def parse_checkpoint(text: str) -> Checkpoint:
    """Parses the text of a checkpoint's note. Raises NoteError."""
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] or not all(lines[:-1]):
        raise NoteError("expected the lines origin, size and root hash")
    origin, size, encoded = lines[:3]
    if not (size.isascii() and size.isdecimal()) or str(int(size[:20])) != size:
        raise NoteError(f"expected a size, found {size[:30]!r}")
    root = _base64(encoded, "the root hash")
    if len(root) != 32:
        raise NoteError(f"expected a root hash of 32 bytes, found {len(root)}")
    return Checkpoint(origin, int(size), root, tuple(lines[3:-1]))


def sign(text: str, name: str, key: Ed25519PrivateKey) -> str:
    """Returns the signature line of a key of the kind ED25519."""
    _check_text(text)
    return _line(key_of(name, key), key.sign(text.encode()))


def cosign(text: str, name: str, key: Ed25519PrivateKey, seconds: int) -> str:
    """Returns the signature line of a witness (kind COSIGNATURE) at a time in seconds since 1970 UTC."""
    _check_text(text)
    stamp = seconds.to_bytes(8, "big")
    return _line(key_of(name, key, COSIGNATURE), stamp + key.sign(_cosigned(text, seconds)))


def assemble(text: str, lines: Sequence[str]) -> bytes:
    """Returns the note of a text and its signature lines, each with its newline."""
    return (text + "\n" + "".join(lines)).encode()


def verify(note: Note, key: Key) -> bool | None:
    """Whether this key signed the note; None if no signature names the key.

    A note can have several signatures of one key: all must be right, as signed-note requires.
    """
    own = [each for each in note.signatures if (each.name, each.key_id) == (key.name, key.key_id)]
    return all(_is_signed(note.text, key, each.signature) for each in own) if own else None


def cosigned_at(note: Note, key: Key) -> int | None:
    """Returns the seconds since 1970 UTC of a witness's newest cosignature; None if it does not verify."""
    if key.kind != COSIGNATURE or not verify(note, key):
        return None
    return max(
        int.from_bytes(each.signature[:8], "big")
        for each in note.signatures
        if (each.name, each.key_id) == (key.name, key.key_id)
    )


def _is_signed(text: str, key: Key, signature: bytes) -> bool:
    message = text.encode()
    if key.kind == COSIGNATURE:
        if len(signature) != 72 or signature[0] > 0x7F:
            return False
        message, signature = _cosigned(text, int.from_bytes(signature[:8], "big")), signature[8:]
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _cosigned(text: str, seconds: int) -> bytes:
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def _line(key: Key, signature: bytes) -> str:
    return f"{PREFIX}{key.name} {base64.b64encode(key.key_id + signature).decode()}\n"


def _signature(line: str) -> Signature:
    name, _, encoded = line.removeprefix(PREFIX).partition(" ")
    if not line.startswith(PREFIX):
        raise NoteError("a signature line does not begin with an em dash")
    _check_name(name)
    data = _base64(encoded, "a signature")
    if len(data) < 5:
        raise NoteError("a signature is too short")
    return Signature(name, data[:4], data[4:])


def _check_name(name: str) -> None:
    if not name or "+" in name or any(sign.isspace() for sign in name):
        raise NoteError(f"expected a key name without spaces and +, found {name[:50]!r}")


def _check_text(text: str) -> None:
    if not text.endswith("\n") or any(ord(sign) < 0x20 and sign != "\n" for sign in text):
        raise NoteError("a note's text ends with a newline and has no control characters")


def _base64(text: str, what: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NoteError(f"{what} is not base64") from None
    if base64.b64encode(data).decode() != text:
        raise NoteError(f"{what} is not canonical base64")
    return data
