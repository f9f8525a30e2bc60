"""Copies a stopped installation: data of all components, secrets and configuration files.

All components are stopped, so the copy is consistent: ClickHouse's tables with the tokens of their blocks,
the jobs' checkpoints, Kafka's topics, the collector's positions. After a restore, logs are read again from
these positions. `BACKUP` of a running ClickHouse contains no tokens: docs/BACKUP.md.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tailrace import __version__
from tailrace.config.home import Home
from tailrace.erasure import vault as names
from tailrace.errors import ReportedError
from tailrace.plural import counted

MANIFEST = "backup.json"
NOT_KEPT = ("run", "logs", "watch")
"""Run-time files, and the demo's logs: like all watched logs they are not Tailrace's data."""
STORE = Path("data", "clickhouse", "store")
VAULT = STORE / "data" / "tailrace" / "subject_vault"
"""ClickHouse's link to the directory of the vault of names."""
DETACHED = "detached"


class BackupError(ReportedError):
    """There is no backup, or not enough disk space; the message is one sentence."""


@dataclass(frozen=True)
class Manifest:
    """The content of a backup. Written last: a directory without it is no backup."""

    version: str
    home: str
    """Checkpoints contain absolute paths, so a backup belongs to one home directory."""
    at: float
    """Seconds since 1970 UTC."""
    files: int
    bytes: int


def make(home: Home, directory: Path, with_names: bool = False) -> Manifest:
    """Copies the home directory, in which nothing may run. Raises BackupError, OSError.

    Without `with_names` it leaves out the rows of the vault of names.
    """
    if directory.exists() and any(directory.iterdir()):
        raise BackupError(f"{directory} is not empty; name a new directory")
    if home.root in (directory, *directory.parents):
        raise BackupError(f"{directory} is inside the home directory to be copied")
    vault = None if with_names else _vault(home)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_room(home.root, directory)
    _copy(home.root, directory, vault)
    files, size = _count(directory)
    manifest = Manifest(__version__, str(home.root), time.time(), files, size)
    (directory / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2))
    return manifest


def restore(home: Home, directory: Path) -> tuple[Manifest, Path | None]:
    """Replaces the home directory by a backup; returns the path to which the old content was moved.

    Nothing may run in it. Raises BackupError, OSError.
    """
    manifest = _read(directory)
    if manifest.home != str(home.root):
        raise BackupError(f"{directory} is a backup of {manifest.home}; set TAILRACE_HOME to that")
    files, size = _count(directory)
    if (files, size) != (manifest.files, manifest.bytes):
        raise BackupError(
            f"{directory} is incomplete: {counted(manifest.files, 'file')} of "
            f"{counted(manifest.bytes, 'byte')} were written, "
            f"{files} of {size} exist"
        )
    home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_room(directory, home.root)
    aside = _move_aside(home)
    _copy(directory, home.root)
    (home.root / MANIFEST).unlink()
    # With the state of the backup, the census would use numbers again. Without it, it gets a new key.
    (home.root / "data" / "census" / "signing.json").unlink(missing_ok=True)
    return manifest, aside


def _vault(home: Home) -> Path:
    """Returns the directory of the vault. Raises BackupError if it has one that is not found."""
    directory = (home.root / VAULT).resolve()
    if names.is_used(home.root / "secrets") and (home.root / STORE).exists() and not directory.is_dir():
        raise BackupError("the vault of names is not where it is expected; --with-names copies it, too")
    return directory


def _read(directory: Path) -> Manifest:
    try:
        return Manifest(**json.loads((directory / MANIFEST).read_text()))
    except FileNotFoundError:
        raise BackupError(f"{directory} is no backup, or an interrupted one: it has no {MANIFEST}") from None


def _copy(source: Path, target: Path, vault: Path | None = None) -> None:
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=_not_kept(source, vault))


def _not_kept(root: Path, vault: Path | None) -> Callable[[str, list[str]], set[str]]:
    """Returns what copytree ignores; of the vault, the directories with rows and their tokens."""

    def ignored(directory: str, names: list[str]) -> set[str]:
        here = Path(directory)
        if vault and here.resolve() == vault:
            return {name for name in names if (here / name).is_dir() and name != DETACHED}
        if vault and here.resolve() == vault / DETACHED:
            return set(names)
        return {name for name in names if here == root and _is_passed_over(name)}

    return ignored


def _is_passed_over(name: str) -> bool:
    return name in NOT_KEPT or name.startswith("before-restore-")


def _count(directory: Path) -> tuple[int, int]:
    sizes = [path.lstat().st_size for path in _files(directory)]
    return len(sizes), sum(sizes)


def _files(directory: Path) -> Iterator[Path]:
    for entry in directory.iterdir():
        if entry.name != MANIFEST and not _is_passed_over(entry.name):
            below = entry.rglob("*") if entry.is_dir() else [entry]
            yield from (path for path in below if path.is_symlink() or path.is_file())


def _require_room(source: Path, target: Path) -> None:
    _, size = _count(source)
    free = shutil.disk_usage(target).free
    if size > free:
        raise BackupError(f"{target} has {free} bytes free, {size} are needed")


def _move_aside(home: Home) -> Path | None:
    entries = [entry for entry in home.root.iterdir() if not _is_passed_over(entry.name)]
    if not entries:
        return None
    aside = home.root / f"before-restore-{time.time_ns()}"
    aside.mkdir(mode=0o700)
    for entry in entries:
        entry.rename(aside / entry.name)
    return aside
