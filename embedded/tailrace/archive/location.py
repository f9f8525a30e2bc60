"""Where an archive is: a directory, or a prefix in an S3-compatible store."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from pyarrow import fs

from tailrace.errors import UsageError
from tailrace.transparency.files import sync
from tailrace_verify.files import Files

CHUNK = 1 << 20
S3 = "s3://"


@dataclass(frozen=True)
class S3Access:
    """How to reach an S3-compatible store. Without keys, those of the environment or machine are used."""

    endpoint: str = ""
    region: str = ""
    key_id: str = ""
    key: str = ""

    def properties(self) -> dict[str, str]:
        """Returns the properties of pyiceberg."""
        found = {
            "s3.endpoint": self.endpoint,
            "s3.region": self.region,
            "s3.access-key-id": self.key_id,
            "s3.secret-access-key": self.key,
        }
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True)
class Location:
    """Files below `root`, by paths with slashes. Every method raises OSError."""

    root: str
    """Without a scheme: a path, or bucket and prefix."""
    filesystem: fs.FileSystem
    is_local: bool
    access: S3Access = S3Access()

    def uri(self, path: str = "") -> str:
        """Returns the address that the metadata of Iceberg contains."""
        return f"{'file://' if self.is_local else S3}{self._full(path)}".rstrip("/")

    def relative(self, uri: str) -> str:
        return uri.removeprefix(self.uri()).lstrip("/")

    def read(self, path: str) -> bytes | None:
        """Returns the bytes of a file, None if it does not exist."""
        try:
            with self.filesystem.open_input_stream(self._full(path)) as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def open(self, path: str) -> pa.NativeFile:
        """Opens a file for reading at any place. Raises FileNotFoundError."""
        return self.filesystem.open_input_file(self._full(path))

    def write(self, path: str, data: bytes) -> None:
        """Replaces a file atomically: a reader gets the old content or the new one."""
        with self.written(path) as stream:
            stream.write(data)

    @contextmanager
    def written(self, path: str) -> Iterator[BinaryIO]:
        """Yields a stream; the file appears under its name when the block has ended without an error."""
        full = self._full(path)
        if not self.is_local:
            with self.filesystem.open_output_stream(full) as stream:
                yield stream
            return
        Path(full).parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(f"{full}.tmp")
        with temporary.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(full)
        sync(temporary.parent)

    def names(self, folder: str) -> list[str]:
        """Returns all files below a folder, sorted."""
        selector = fs.FileSelector(self._full(folder), recursive=True, allow_not_found=True)
        found = self.filesystem.get_file_info(selector)
        start = len(self.root.rstrip("/")) + 1
        return sorted(
            each.path[start:]
            for each in found
            if each.type is fs.FileType.File and not each.path.endswith(".tmp")
        )

    def delete(self, path: str) -> None:
        """Deletes a file; one that does not exist is no error."""
        try:
            self.filesystem.delete_file(self._full(path))
        except FileNotFoundError:
            return

    def files(self) -> Files:
        """Returns the small files, for the verifier: proofs and documents."""
        return Files(self.read, tuple(self.names("")))

    def sha256(self, path: str) -> str:
        """Returns the hash of a file, in hex. Raises FileNotFoundError."""
        digest = hashlib.sha256()
        with self.filesystem.open_input_stream(self._full(path)) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
        return digest.hexdigest()

    def _full(self, path: str) -> str:
        return f"{self.root.rstrip('/')}/{path}".rstrip("/")


def opened(address: str, access: S3Access | None = None) -> Location:
    """Opens a directory, or `s3://BUCKET/PREFIX`. Raises UsageError."""
    if address.startswith(S3):
        return Location(address.removeprefix(S3), _s3(access or S3Access()), False, access or S3Access())
    if "://" in address:
        raise UsageError(f"TAILRACE_ARCHIVE: expected a directory or s3://BUCKET/PREFIX, found {address}")
    return Location(str(Path(address).resolve()), fs.LocalFileSystem(), True)


def _s3(access: S3Access) -> fs.FileSystem:
    options: Mapping[str, str] = {
        "access_key": access.key_id,
        "secret_key": access.key,
        "region": access.region,
        "endpoint_override": access.endpoint,
    }
    return fs.S3FileSystem(**{name: value for name, value in options.items() if value})
