"""Which files of thousands `tailrace ledger` prints."""

from collections.abc import Callable, Sequence
from typing import TypeVar

File = TypeVar("File")

MAX_FILES = 200
"""Maximum number of files in a printed table; the JSON form has all."""


def shown_files(files: Sequence[File], is_settled: Callable[[File], bool]) -> Sequence[File]:
    """Returns all files, or `MAX_FILES` of more. Of more, those that are not settled come first."""
    return files if len(files) <= MAX_FILES else sorted(files, key=is_settled)[:MAX_FILES]
