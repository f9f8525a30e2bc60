"""Debian's packages, unpacked into the cache instead of installed."""

import subprocess
from pathlib import Path

from tailrace.config import content_hash
from tailrace_local.supervisor import cache

DOWNLOAD_SECONDS = 600


def unpacked(cache_directory: Path, kind: str, *packages: str) -> Path:
    """Returns the directory in the cache with the files of these packages, without their dependencies.

    Raises OSError or subprocess.SubprocessError without apt-get or Debian's registry.
    """
    entry = cache_directory / kind / content_hash.fingerprint(*packages)
    if not entry.exists():
        with cache.build(entry) as draft:
            unpack(draft, *packages)
    return entry


def unpack(directory: Path, *packages: str) -> None:
    """Downloads these packages and unpacks them into the directory; errors as of `unpacked`."""
    try:
        _run("apt-get", "download", "-qq", *packages, directory=directory)
    except subprocess.CalledProcessError:  # missing or old package lists
        _run("apt-get", "update", "-qq", directory=directory)
        _run("apt-get", "download", "-qq", *packages, directory=directory)
    for archive in sorted(directory.glob("*.deb")):
        _run("dpkg-deb", "-x", archive, directory, directory=directory)
        archive.unlink()


def _run(*words: str | Path, directory: Path) -> None:
    subprocess.run(words, cwd=directory, check=True, capture_output=True, timeout=DOWNLOAD_SECONDS)
