"""Writes the bundle as a ZIP file with a manifest."""

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from tailrace_verify import minutes
from tailrace_verify.evidence import CHUNK_BYTES, FORMAT, MANIFEST, PUBLIC_KEY, SIGNATURE, VERSION
from tailrace_verify.files import TRANSPARENCY

__all__ = ("MANIFEST", "PUBLIC_KEY", "SIGNATURE", "files_of", "manifest", "sha256", "write")
PACKED_ALREADY = (".parquet", ".pdf")
INCOMPRESSIBLE = f"{TRANSPARENCY}{minutes.HASHES}/"
TIME = (1980, 1, 1, 0, 0, 0)
"""The time of each entry: the real times are in the manifest, so that equal bundles are equal files."""


def files_of(directory: Path) -> list[str]:
    """Returns the paths of all files below a directory, with slashes, sorted."""
    root = len(str(directory)) + 1
    return sorted(
        os.path.join(folder, name)[root:].replace(os.sep, "/")
        for folder, _, names in os.walk(directory)
        for name in names
    )


def manifest(directory: Path, about: Mapping[str, object]) -> bytes:
    """Returns the manifest of a directory's files, as it is signed."""
    files = [
        {"name": name, "bytes": (directory / name).stat().st_size, "sha256": sha256(directory / name)}
        for name in files_of(directory)
    ]
    return (
        json.dumps({"format": FORMAT, "version": VERSION, **about, "files": files}, indent=1) + "\n"
    ).encode()


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(directory: Path, names: Iterable[str], path: Path) -> None:
    """Packs files of a directory and syncs the ZIP file to the disk; only the user may read it."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        with zipfile.ZipFile(file, "w") as bundle:
            for name in names:
                _add(bundle, directory / name, name)
        file.flush()
        os.fsync(file.fileno())


def _add(bundle: zipfile.ZipFile, path: Path, name: str) -> None:
    entry = zipfile.ZipInfo(name, TIME)
    entry.external_attr = 0o100644 << 16
    packed = name.endswith(PACKED_ALREADY) or name.startswith(INCOMPRESSIBLE)
    entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
    entry.file_size = path.stat().st_size  # beyond 4 GB the entry needs other headers
    with path.open("rb") as source, bundle.open(entry, "w") as target:
        while chunk := source.read(CHUNK_BYTES):
            target.write(chunk)
