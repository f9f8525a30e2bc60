"""Writes log files from a directory of files that a cloud exported."""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tailrace_pull import container_logs
from tailrace_pull.envelopes import Decoded, EnvelopeError, decode, exported_events, records

IDS = ".ids"
"""Ending of the file next to a log with offset, time and id of each entry."""


@dataclass
class Imported:
    """What an import did."""

    files: list[Path] = field(default_factory=list)
    entries: int = 0
    repeated: int = 0
    """Records with the id and the time of another one."""
    others: int = 0
    """Records of other resources or kinds."""
    problems: list[str] = field(default_factory=list)
    """Records that could not be read, by file."""


def run(exported: Path, out: Path) -> Imported:
    """Reads all files below `exported`, also compressed ones, and writes each log below `out`, ordered by
    time. Replaces the files of an earlier run. Raises OSError."""
    done = Imported()
    logs: dict[tuple[str, ...], list[Decoded]] = {}
    for file in sorted(path for path in exported.rglob("*") if path.is_file()):
        for entry in _decoded(file, _container(file.relative_to(exported)), done):
            logs.setdefault(entry.log, []).append(entry)
    for log, entries in sorted(logs.items()):
        _write(out.joinpath(*(_safe(part) for part in log)), _distinct(entries, done), done)
    return done


def _container(file: Path) -> str:
    """Returns the name of the container whose runtime wrote a file: that of its directories, if any."""
    return "_".join(file.parent.parts) or file.name.removesuffix(".gz").removesuffix(".log")


def _decoded(file: Path, container: str, done: Imported) -> Iterator[Decoded]:
    try:
        content = file.read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        yield from _entries(content, file, container, done)
    except (ValueError, EOFError, OSError, zlib.error) as error:
        done.problems.append(f"{file}: {error}")


def _entries(content: bytes, file: Path, container: str, done: Imported) -> Iterator[Decoded]:
    """Yields the entries of a file by its first bytes. Raises ValueError."""
    lines = list(container_logs.lines(content, container))
    found = lines or list(exported_events(content.decode().encode(), file.parent.name))
    yield from found or _of_records(content.decode(), file, done)


def _of_records(document: str, file: Path, done: Imported) -> Iterator[Decoded]:
    for record in records(document):
        try:
            entry = decode(record)
        except EnvelopeError as error:
            done.problems.append(f"{file}: {error}")
            continue
        if entry is None:
            done.others += 1
        else:
            yield entry


def _distinct(entries: list[Decoded], done: Imported) -> list[Decoded]:
    """Returns the entries by time. Google: records of equal time and id are the same record."""
    kept: list[Decoded] = []
    known: set[tuple[object, str]] = set()
    for entry in sorted(entries, key=lambda each: each.at):
        if entry.id and (entry.at, entry.id) in known:
            done.repeated += 1
            continue
        known.add((entry.at, entry.id))
        kept.append(entry)
    return kept


def _write(file: Path, entries: list[Decoded], done: Imported) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    offset = 0
    with file.open("wb") as log, file.with_name(file.name + IDS).open("w") as ids:
        for entry in entries:
            log.write(entry.entry)
            ids.write(f"{offset}\t{entry.at.isoformat()}\t{_plain(entry.id)}\n")
            offset += len(entry.entry)
    done.entries += len(entries)
    done.files.append(file)


def _safe(part: str) -> str:
    """Returns a name of a file or directory: records are no trusted input."""
    kept = "".join(each if each.isalnum() or each in "-_.:" else "_" for each in part)
    return kept.lstrip(".") or "_"


def _plain(text: str) -> str:
    return "".join(each for each in text if each.isprintable() and each != "\t")
