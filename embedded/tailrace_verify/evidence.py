"""Verifies an evidence bundle without any server: its signature, every file against the manifest, and the ZIP
structure.

ZIP programs disagree about files with duplicate names or with bytes that belong to no entry: they could show
other content than was verified. So the entries must fill the file from its first byte to its directory, each
name once, and the directory must end the file. Extra fields can contain other names (Info-ZIP's Unicode Path,
APPNOTE.TXT 4.6.9): only the one for large sizes is allowed.
"""

import hashlib
import json
import os
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tailrace_verify import check, pem
from tailrace_verify.check import Scope
from tailrace_verify.files import MARKS, of_archive
from tailrace_verify.findings import Report, Status
from tailrace_verify.pem import SigningKeyError
from tailrace_verify.plural import counted
from tailrace_verify.trust import Trust

MANIFEST, SIGNATURE, PUBLIC_KEY = "manifest.json", "manifest.sig", "public-key.pem"
FORMAT = "tailrace-evidence"
VERSION = 1
CHUNK_BYTES = 1 << 20
MAX_MANIFEST_BYTES = 16 << 20
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
END = struct.Struct("<4s4H2IH")
END_64 = struct.Struct("<4sQ2H2I4Q")
END_64_LOCATOR = struct.Struct("<4sIQI")
LARGE = 0xFFFFFFFF
"""The placeholder for a size that does not fit into 32 bits."""
EXTRA_64 = 1
"""The extra field with the large size, APPNOTE.TXT 4.5.3."""
UTF8 = 0x800
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
OWN = (MANIFEST, SIGNATURE)
"""Files that are not in the manifest."""

READABLE = "The file is an evidence bundle"
CONTAINER = "Every program reads the same files from the ZIP file"
SIGNED = "This key has signed the manifest"
PROVEN = "The transparency log proves the rows, and nothing in it was changed"
FILES = "The files equal the list of the manifest, with their sizes and SHA-256 sums"


@dataclass(frozen=True)
class Check:
    """One step of the verification; it was successful without faults."""

    name: str
    faults: Sequence[str]


@dataclass
class Verdict:
    """The result; without faults the bundle is unchanged since the holder of the key exported it."""

    checks: list[Check] = field(default_factory=list)
    """The steps in their order. A step that the faults before it prevent is missing."""
    about: Mapping[str, object] = field(default_factory=dict)
    """The manifest."""
    manifest_sha256: str = ""
    key_fingerprint: str = ""
    key_from_bundle: bool = True
    """The key is from the bundle itself: anyone could have signed it."""
    files: int = 0
    """Verified files: those of the manifest, the manifest and its signature, as the export counts them."""
    proofs: Report | None = None
    """The verification by the transparency log; None if the bundle has no proofs."""

    @property
    def faults(self) -> list[str]:
        return [fault for check in self.checks for fault in check.faults]

    def add(self, name: str, faults: Iterable[str]) -> None:
        self.checks.append(Check(name, tuple(faults)))


class _UnreadableError(Exception):
    """The verification cannot continue; the message states the reason."""


def verify(
    path: Path,
    public_key: Ed25519PublicKey | None = None,
    trust: Trust | None = None,
    scope: Scope | None = None,
) -> Verdict:
    """Verifies one bundle; `public_key` is the exporter's, from another source, as are the keys of `trust`.
    `scope` is the auditor's own period. Raises OSError."""
    verdict = Verdict(key_from_bundle=public_key is None)
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as bundle:
            verdict.add(CONTAINER, _container_faults(file, bundle))
            if not verdict.faults:
                _check(bundle, public_key, verdict)
                _check_proofs(bundle, trust or Trust(), scope, verdict)
    except (
        _UnreadableError,
        zipfile.BadZipFile,
        NotImplementedError,
        EOFError,
        zlib.error,
        struct.error,
    ) as error:
        verdict.add(READABLE, [f"cannot be read as a bundle: {error}"])
    return verdict


def _container_faults(file: BinaryIO, bundle: zipfile.ZipFile) -> Iterator[str]:
    entries = bundle.infolist()
    for name, times in Counter(entry.filename for entry in entries).items():
        if times > 1:
            yield f"{_shown(name)}: {counted(times, 'file')} of this name"
    for entry in entries:
        yield from _entry_faults(entry)
    yield from _tiling_faults(file, bundle, entries)


def _entry_faults(entry: zipfile.ZipInfo) -> Iterator[str]:
    name = entry.orig_filename
    if name != entry.filename or not _is_safe(name):
        yield f"{_shown(name)}: a path outside of the bundle, or one that programs interpret differently"
    if entry.flag_bits & ~UTF8 or entry.compress_type not in METHODS or entry.comment:
        yield f"{_shown(name)}: a compression or flag that Tailrace never uses"
    if entry.extra != _extra_64(*_large_numbers(entry)):
        yield f"{_shown(name)}: its entry in the directory contains fields that Tailrace never writes"
    if entry.external_attr >> 16 not in (0, 0o100644):
        yield f"{_shown(name)}: not a plain file"


def _large_numbers(entry: zipfile.ZipInfo) -> Iterator[int]:
    """Yields the values of an entry that the directory stores in 64 bits."""
    if max(entry.file_size, entry.compress_size) > zipfile.ZIP64_LIMIT:
        yield from (entry.file_size, entry.compress_size)
    if entry.header_offset > zipfile.ZIP64_LIMIT:
        yield entry.header_offset


def _extra_64(*numbers: int) -> bytes:
    return struct.pack(f"<2H{len(numbers)}Q", EXTRA_64, 8 * len(numbers), *numbers) if numbers else b""


def _is_safe(name: str) -> bool:
    parts = name.split("/")
    return (
        name.isascii()
        and name.isprintable()
        and not any(part in ("", ".", "..") or any(sign in part for sign in '\\:*?"<>|') for part in parts)
    )


def _tiling_faults(file: BinaryIO, bundle: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> Iterator[str]:
    """Checks that the entries are contiguous from the first byte to the directory, and that it ends the
    file."""
    at = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset != at:
            yield f"bytes {at} to {entry.header_offset} belong to no file of the bundle"
            return
        at, agrees = _local(file, entry)
        if not agrees:
            yield f"{_shown(entry.orig_filename)}: its header and the directory differ"
    if at != bundle.start_dir:
        yield f"bytes {at} to {bundle.start_dir} belong to no file of the bundle"
    if bundle.comment:
        yield f"the ZIP file has a comment of {len(bundle.comment)} bytes"
    expected = _directory_end(file, bundle.start_dir, entries)
    size = file.seek(0, os.SEEK_END)
    if size != expected:
        yield f"bytes {expected} to {size} do not belong to the bundle"


def _local(file: BinaryIO, entry: zipfile.ZipInfo) -> tuple[int, bool]:
    """Returns the end of an entry, and whether its header agrees with the directory."""
    file.seek(entry.header_offset)
    fields = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
    _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = fields
    found = (flags, method, crc, file.read(name_length), packed, size, file.read(extra_length))
    sizes = (entry.compress_size, entry.file_size, b"")
    if (packed, size) == (LARGE, LARGE):  # the values are in the extra field
        sizes = (LARGE, LARGE, _extra_64(entry.file_size, entry.compress_size))
    expected = (entry.flag_bits, entry.compress_type, entry.CRC, entry.orig_filename.encode(), *sizes)
    end = entry.header_offset + LOCAL_HEADER.size + name_length + extra_length + entry.compress_size
    return end, found == expected


def _directory_end(file: BinaryIO, start: int, entries: list[zipfile.ZipInfo]) -> int:
    """Returns the expected end of a directory of exactly these entries, which must end the file."""
    at = start
    for _ in entries:
        file.seek(at)
        header = file.read(46)
        if header[:4] != b"PK\x01\x02":
            raise _UnreadableError("its directory is broken")
        at += 46 + sum(struct.unpack("<3H", header[28:34]))
    file.seek(at)
    if file.read(4) == b"PK\x06\x06":
        at += END_64.size + END_64_LOCATOR.size
    return at + END.size


def _check(bundle: zipfile.ZipFile, public_key: Ed25519PublicKey | None, verdict: Verdict) -> None:
    text = _small(bundle, MANIFEST)
    verdict.manifest_sha256 = hashlib.sha256(text).hexdigest()
    key = public_key or _key_of(bundle)
    verdict.key_fingerprint = pem.fingerprint(key)
    is_signed = pem.is_signed(key, _small(bundle, SIGNATURE), text)
    verdict.add(SIGNED, [] if is_signed else [_signature_fault(bundle, public_key)])
    verdict.about = _manifest(text)
    verdict.add(FILES, _file_faults(bundle, verdict))


def _check_proofs(bundle: zipfile.ZipFile, trust: Trust, scope: Scope | None, verdict: Verdict) -> None:
    files = of_archive(bundle)
    if MARKS[1] not in files.names:
        return
    verdict.proofs = check.verify(files.proofs(), trust, scope)
    changed = (each for each in verdict.proofs.findings if each.status is Status.TAMPERED)
    verdict.add(PROVEN, [f"{each.place.get('file') or each.check}: {each.message}" for each in changed])


def _signature_fault(bundle: zipfile.ZipFile, public_key: Ed25519PublicKey | None) -> str:
    """Returns a fault if the signature is missing or by another key."""
    text, signature = _small(bundle, MANIFEST), _small(bundle, SIGNATURE)
    try:
        own = _key_of(bundle)
    except _UnreadableError:
        own = None
    if public_key and own and pem.is_signed(own, signature, text):
        return f"signed with another key: {pem.fingerprint(own)}"
    return f"{SIGNATURE}: not the signature of {MANIFEST} with this key"


def _file_faults(bundle: zipfile.ZipFile, verdict: Verdict) -> Iterator[str]:
    listed = {entry["name"]: entry for entry in verdict.about["files"]}
    there = {entry.filename: entry for entry in bundle.infolist() if entry.filename not in OWN}
    verdict.files = len(bundle.infolist()) - len(there)
    for name in sorted(listed.keys() - there.keys()):
        yield f"{_shown(name)}: missing"
    for name in sorted(there.keys() - listed.keys()):
        yield f"{_shown(name)}: added, the manifest does not name it"
    for name in sorted(there.keys() & listed.keys()):
        verdict.files += 1
        yield from _content_faults(bundle, there[name], listed[name])


def _content_faults(bundle: zipfile.ZipFile, entry: zipfile.ZipInfo, listed: Mapping) -> Iterator[str]:
    if entry.file_size != listed["bytes"]:
        yield f"{entry.filename}: changed, {entry.file_size} bytes instead of {listed['bytes']}"
        return
    sum_, left = hashlib.sha256(), listed["bytes"]
    try:
        with bundle.open(entry) as file:
            while chunk := file.read(CHUNK_BYTES):
                left -= len(chunk)
                if left < 0:
                    break
                sum_.update(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        yield f"{entry.filename}: changed, cannot be unpacked: {error}"
        return
    if left or sum_.hexdigest() != listed["sha256"]:
        yield f"{entry.filename}: changed, its SHA-256 sum differs from the manifest"


def _small(bundle: zipfile.ZipFile, name: str) -> bytes:
    """Reads a small file."""
    try:
        with bundle.open(name) as file:
            text = file.read(MAX_MANIFEST_BYTES + 1)
    except KeyError:
        raise _UnreadableError(f"{name} is missing") from None
    if len(text) > MAX_MANIFEST_BYTES:
        raise _UnreadableError(f"{name} is too large")
    return text


def _key_of(bundle: zipfile.ZipFile) -> Ed25519PublicKey:
    try:
        return pem.read_public(_small(bundle, PUBLIC_KEY))
    except SigningKeyError as error:
        raise _UnreadableError(f"{PUBLIC_KEY}: {error}") from None


def _manifest(text: bytes) -> dict:
    try:
        manifest = json.loads(text)
        files = manifest["files"]
        if (manifest["format"], manifest["version"]) != (FORMAT, VERSION):
            raise _UnreadableError(f"{MANIFEST}: its format or version is unknown to this Tailrace")
        if len({str(file["name"]) for file in files}) != len(files):
            raise _UnreadableError(f"{MANIFEST}: contains a file twice")
        for file in files:
            int(file["bytes"]), str(file["sha256"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _UnreadableError(f"{MANIFEST}: {error!r}") from None
    return manifest


def _shown(name: str) -> str:
    return name if name.isprintable() else repr(name)
