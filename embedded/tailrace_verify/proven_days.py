"""Days of archives that an auditor has proven, in a file of the auditor.

The file has one SHA-256 a line, of everything that the verification of the rows of a day depends on: the
document of the day, its leaves, and the bytes of its files. A user who can write the file can have rows
accepted.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from tailrace_verify.archive_days import Day
from tailrace_verify.leaves import RowsLeaf

RULES = 1
"""Of the comparison of rows. Another number makes the verifier read all rows again."""
LINE = re.compile("[0-9a-f]{64}")


class ProvenDaysError(ValueError):
    """The file has other contents; the message names the line."""


class ProvenDays:
    """Without a file, nothing is kept."""

    def __init__(self, file: Path | None = None) -> None:
        """Reads the file, if it exists. Raises ProvenDaysError, OSError."""
        self._file = file
        self._digests = _read(file) if file and file.exists() else set()

    @property
    def are_kept(self) -> bool:
        return self._file is not None

    def __contains__(self, digest: str) -> bool:
        return digest in self._digests

    def digest(
        self, day: Day, leaves: Sequence[RowsLeaf] | None, deleted_until: str, sums: Sequence[str]
    ) -> str:
        """Returns the digest of a day; `sums` are the SHA-256 of its files, in the order of the document."""
        recorded = [
            [leaf.minute, leaf.part, leaf.rows, leaf.root.hex(), list(leaf.columns), list(leaf.ingested)]
            for leaf in leaves or ()
        ]
        is_covered = leaves is not None
        values = [RULES, day.encoded().decode(), is_covered, recorded, deleted_until, list(sums)]
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()

    def add(self, digest: str) -> None:
        """Adds a day that was proven."""
        if self._file:
            self._digests.add(digest)

    def write(self) -> None:
        """Replaces the file. Raises OSError."""
        if self._file:
            draft = self._file.with_name(f".{self._file.name}.draft")
            draft.write_text("".join(f"{digest}\n" for digest in sorted(self._digests)))
            draft.replace(self._file)


def _read(file: Path) -> set[str]:
    lines = file.read_text(errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        if not LINE.fullmatch(line):
            raise ProvenDaysError(f"{file}: expected 64 hexadecimal digits in line {number}")
    return set(lines)
