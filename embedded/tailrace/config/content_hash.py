"""Hashes content: generated files with the same inputs have the same name."""

import hashlib
from pathlib import Path


def fingerprint(*pieces: Path | str) -> str:
    """Returns 16 hex digits over files' contents and texts, which change with any of them."""
    digest = hashlib.sha256()
    for piece in pieces:
        content = piece.read_bytes() if isinstance(piece, Path) else piece.encode()
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()[:16]
