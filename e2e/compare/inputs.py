"""The files that both versions read: samples, fixtures and golden inputs of this version, and the corpora.

They are copied, so that both versions read them from the same path, which events contain.
"""

import gzip
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tailrace.config.resources import REPOSITORY

CORPORA = Path(os.environ.get("TAILRACE_CORPORA") or REPOSITORY.parent / "shared" / "corpora")
OF_CORPORA = "corpora"
"""The directory of their copies."""
BATCH_BYTES = 30_000_000
NOT_INPUTS = (".md", ".cnf", ".yml", ".yaml", ".pl", ".sql", ".golden", ".tsv")
EXPECTED = {"expected", "golden-ptqd", "sigma"}
"""Directories of the corpora with other files than logs and plans."""
PLAN_FOLDERS = {"explain", "plans"}
LOGS, PLANS, STATEMENTS = "logs", "plans", "statements"
SLOW = b"# Query_time"
BEGINNING = 65536


@dataclass(frozen=True)
class Group:
    """Files that one call of a command reads."""

    name: str
    kind: str
    files: list[Path]


def collect(directory: Path, with_corpora: bool, most: int) -> list[Group]:
    """Copies the inputs below a directory, of each file the first `most` bytes up to the end of a line.

    Returns them in groups, which one call reads.
    """
    listed = [*_of_repository(), *(_of_corpora() if with_corpora else ())]
    groups: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for file, place, kind in listed:
        copy = directory / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(beginning(file, most))
        groups[_name(place, copy, kind), kind].append(copy)
    return [
        Group(name if part == 0 else f"{name}.{part}", kind, files)
        for (name, kind), all_files in sorted(groups.items())
        for part, files in enumerate(_batches(all_files))
    ]


def _of_repository() -> Iterator[tuple[Path, Path, str]]:
    for pattern, kind in (
        ("samples/*.log", LOGS),
        ("rules/**/*.log", LOGS),
        ("stream-jobs/query-core/src/test/resources/golden/**/input*", LOGS),
        ("stream-jobs/cli/src/test/resources/golden/digest/*.log", LOGS),
        ("stream-jobs/plans/src/test/resources/golden/**/input*", PLANS),
        ("samples/mariadb-*.slow.log", PLANS),
        ("stream-jobs/query-core/src/test/resources/fingerprint/*.psv", STATEMENTS),
        ("samples/*.slow.log", STATEMENTS),
    ):
        yield from ((file, _place(file), kind) for file in sorted(REPOSITORY.glob(pattern)))


def _place(file: Path) -> Path:
    """Returns the path of the copy: that in the repository, without the layout of a Maven module."""
    parts = file.relative_to(REPOSITORY).parts
    return Path(*(parts if parts[0] != "stream-jobs" else (parts[1], *parts[5:])))


def _of_corpora() -> Iterator[tuple[Path, Path, str]]:
    for file in sorted(path for path in CORPORA.rglob("*") if path.is_file()):
        parts = file.relative_to(CORPORA).parts
        if file.suffix in NOT_INPUTS or EXPECTED.intersection(parts) or "golden" in parts:
            continue
        place = Path(OF_CORPORA, *parts)
        place = place.with_suffix("") if file.suffix == ".gz" else place
        yield file, place, PLANS if PLAN_FOLDERS.intersection(parts) else LOGS
        if "slow" in parts:
            yield file, place, STATEMENTS


def beginning(file: Path, most: int) -> bytes:
    """Returns the uncompressed file, or the first lines of a larger file up to this number of bytes."""
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
        content = opened.read(most + 1)
    return content if len(content) <= most else content[: content.rfind(b"\n", 0, most) + 1]


def _name(place: Path, copy: Path, kind: str) -> str:
    """Groups are large: a command takes longer to start than to read most files, and rows contain the file.

    Slow logs and others are separate, because a digest covers either.
    """
    depth = 2 if place.parts[0] == OF_CORPORA else 1
    name = "-".join(place.parts[:depth])
    if kind != LOGS:
        return name
    with copy.open("rb") as opened:
        return f"{name}.{'slow' if SLOW in opened.read(BEGINNING) else 'other'}"


def _batches(files: list[Path]) -> Iterator[list[Path]]:
    batch: list[Path] = []
    total = 0
    for file in files:
        size = file.stat().st_size
        if batch and total + size > BATCH_BYTES:
            yield batch
            batch, total = [], 0
        batch.append(file)
        total += size
    if batch:
        yield batch
