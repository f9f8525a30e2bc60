"""The files of a bundle: a directory, or a ZIP file, both below a prefix such as `transparency/`."""

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TRANSPARENCY = "transparency/"
"""Where evidence bundles contain the proofs."""
MARKS = ("checkpoint", TRANSPARENCY + "checkpoint")


class UnreadableError(Exception):
    """The bundle cannot be read; the message states why."""


@dataclass(frozen=True)
class Files:
    """`read` returns a file's bytes or None; `names` are all paths with slashes, sorted."""

    read: Callable[[str], bytes | None]
    names: tuple[str, ...]

    def below(self, folder: str) -> list[str]:
        return [name for name in self.names if name.startswith(f"{folder}/")]

    def under(self, prefix: str) -> "Files":
        """Returns the files below a prefix, which their names lose."""
        names = tuple(name.removeprefix(prefix) for name in self.names if name.startswith(prefix))
        return Files(lambda name: self.read(prefix + name), names)

    def proofs(self) -> "Files":
        """Returns the files of the transparency log: of an evidence bundle those of a folder of its own."""
        return self.under(TRANSPARENCY) if MARKS[1] in self.names and MARKS[0] not in self.names else self


def of_archive(archive: zipfile.ZipFile) -> Files:
    names = sorted(name for name in archive.namelist() if not name.endswith("/"))
    return Files(lambda name: _unpacked(archive, name), tuple(names))


def of_mapping(contents: dict[str, bytes]) -> Files:
    return Files(contents.get, tuple(sorted(contents)))


@contextmanager
def opened(path: Path) -> Iterator[Files]:
    """Opens a directory or a ZIP file. Raises UnreadableError, OSError."""
    if path.is_dir():
        yield Files(lambda name: _read(path / name), tuple(sorted(_walk(path))))
        return
    try:
        with zipfile.ZipFile(path) as archive:
            yield of_archive(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise UnreadableError(f"{path}: no directory and no ZIP file: {error}") from None


def _walk(directory: Path) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        for name in names:
            yield (Path(folder) / name).relative_to(directory).as_posix()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes | None:
    try:
        return archive.read(name)
    except KeyError:
        return None
