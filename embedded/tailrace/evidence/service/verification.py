"""Verifies an uploaded bundle with the key of this installation, and states each check."""

import zipfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tailrace.evidence import signing
from tailrace_verify.evidence import Check, Verdict, verify

MAX_UNPACKED_BYTES = 8 << 30
"""The largest sum of the files' sizes: unpacking more would take minutes of processor time."""
MAX_SHOWN = 50
"""The maximum number of faults of a check in an answer."""


def verification(path: Path, own: Ed25519PublicKey) -> dict[str, object]:
    """Returns the checks with their faults, and what the manifest states. Raises OSError.

    A bundle of another installation is checked with the key that it contains, which anyone can create. Then
    `own_key` is false.
    """
    if fault := _too_large(path):
        return _answer(Verdict(checks=[fault]), own)
    verdict = verify(path, own)
    if not verdict.faults:
        return _answer(verdict, own)
    foreign = verify(path)
    has_other_key = foreign.key_fingerprint not in ("", signing.fingerprint(own))
    return _answer(foreign if has_other_key else verdict, own)


def _answer(verdict: Verdict, own: Ed25519PublicKey) -> dict[str, object]:
    return {
        "unchanged": not verdict.faults,
        "own_key": verdict.key_fingerprint == signing.fingerprint(own),
        "checks": [{"name": check.name, "faults": check.faults[:MAX_SHOWN]} for check in verdict.checks],
        "about": {name: value for name, value in verdict.about.items() if name != "files"},
        "files": verdict.files,
        "manifest_sha256": verdict.manifest_sha256,
        "key_fingerprint": verdict.key_fingerprint,
    }


def _too_large(path: Path) -> Check | None:
    """Returns a failed check if the file unpacks to more than MAX_UNPACKED_BYTES."""
    try:
        with zipfile.ZipFile(path) as bundle:
            size = sum(entry.file_size for entry in bundle.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError):
        return None  # the verification states why
    text = f"its files have {size:,} bytes, more than {MAX_UNPACKED_BYTES:,}: use tailrace evidence verify"
    return Check("The size of the bundle", (text,)) if size > MAX_UNPACKED_BYTES else None
