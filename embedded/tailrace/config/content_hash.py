"""Names for what was made of files and texts: the same content has the same name."""

import hashlib
from pathlib import Path


def fingerprint(*pieces: Path | str) -> str:
    """16 hex digits over files' contents and texts: changes when any of them does."""
    digest = hashlib.sha256()
    for piece in pieces:
        content = piece.read_bytes() if isinstance(piece, Path) else piece.encode()
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()[:16]
