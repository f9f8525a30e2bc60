"""Honest archives with the proofs of their log, and manipulations of them by someone who has every password.

An archive is made from a seed, as `tailrace archive run` writes it once a day: days with and without rows, of
one or two tables, and rows that come late. The log records each archived day after it was archived.
"""

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import verify_histories as histories
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace_verify import archive_days, archive_rows, notes, rows
from tailrace_verify.archive_days import ArchivedFile, Day, Part
from tailrace_verify.archive_ends import LAG
from tailrace_verify.check import FORM, Scope
from tailrace_verify.trust import Trust

FIRST = date(2026, 11, 2)
LOCATION = "/mnt/archive"
TYPES = {
    "event_id": "UInt32",
    "sql": "String",
    "event_time": "DateTime64(6, 'UTC')",
    "ingested_at": "DateTime('UTC')",
}
TIME = pa.timestamp("us", "UTC")
FIELDS = [
    pa.field(name, type_, metadata={archive_rows.FIELD_ID: str(number).encode()})
    for number, (name, type_) in enumerate(zip(TYPES, (pa.int64(), pa.string(), TIME, TIME), strict=True), 1)
]
METADATA = {
    "current-schema-id": 0,
    "schemas": [
        {"schema-id": 0, "fields": [{"name": each.name, "id": at} for at, each in enumerate(FIELDS, 1)]}
    ],
}
Place = dict[str, object]


@dataclass
class Archive:
    """An archive in a directory; `days` have archived rows, by table and day."""

    root: Path
    random: random.Random
    log: Ed25519PrivateKey
    witness: Ed25519PrivateKey
    entries: list[bytes] = field(default_factory=list)
    days: dict[tuple[str, str], int] = field(default_factory=dict)
    length: int = 0
    """Days, with those that have no rows."""
    reached: int = 0
    """The leaf at which the proofs end."""

    @property
    def trust(self) -> Trust:
        witness = notes.key_of(histories.WITNESS, self.witness, notes.COSIGNATURE)
        return Trust(notes.key_of(histories.ORIGIN, self.log), (witness,), {})

    @property
    def period(self) -> Scope:
        first = datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC)
        last = max(date.fromisoformat(day) for _, day in self.days)
        return Scope(first, first + timedelta(days=(last - FIRST).days + 1))

    def of_day(self, day: str) -> list[str]:
        return [table for table, other in self.days if other == day]

    def names(self) -> list[str]:
        """Returns the days with rows."""
        return sorted({day for _, day in self.days})

    def newest_checkpoint(self) -> bytes:
        return next((self.root / "proofs" / self.names()[-1]).rglob("checkpoint")).read_bytes()


def made(seed: int, root: Path) -> Archive:
    """Writes an archive of 3 to 6 days below `root`, which is emptied."""
    shutil.rmtree(root, ignore_errors=True)
    source = random.Random(seed)
    keys = [Ed25519PrivateKey.from_private_bytes(source.randbytes(32)) for _ in range(2)]
    archive = Archive(root, source, *keys)
    for name in (archive_days.DAYS, archive_days.TABLES):
        (root / name).mkdir(parents=True)
    waiting: list[tuple[str, pa.Table, list]] = []
    archive.length = source.randint(3, 6)
    for number in range(archive.length + 1):
        new = [_rows(archive, table, number) for table in _tables(archive, number)]
        for _, _, leaves in new:
            archive.entries += leaves[:1]
        _archive(archive, number - 1, waiting)
        for _, _, leaves in new:
            archive.entries += leaves[1:]
        waiting = new
    return archive


def _tables(archive: Archive, number: int) -> list[str]:
    """The tables with rows of a day; the last day is not over."""
    if number == archive.length:
        return []
    names = [name for name in histories.TABLES if archive.random.random() < 0.7]
    return names or ["query_events"] * (number == 0)


def _time(number: int, hour: int, minute: int = 0) -> datetime:
    start = datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC)
    return start + timedelta(days=number, hours=hour, minutes=minute)


def _rows(archive: Archive, table: str, number: int) -> tuple[str, pa.Table, list[bytes]]:
    """Returns rows of a day, and the leaves of their minutes; some rows come hours later."""
    source, content, leaves = archive.random, [], []
    for hour in sorted(source.sample(range(1, 23), source.randint(1, 3))):
        for part in range(1, source.randint(1, 2) + 1):
            stored = _time(number, hour, 1) + timedelta(hours=part - 1)
            columns = [
                [source.randrange(10**9), source.choice(["SELECT ?", 'é"\n'])]
                for _ in range(source.randint(1, 4))
            ]
            found = _table([[*each, _time(number, hour), stored] for each in columns])
            lines = archive_rows.canonical(found, TYPES)
            leaves.append(_leaf(table, _time(number, hour), part, lines, stored))
            content.append(found)
    return table, pa.concat_tables(content), leaves


def _table(found: list[list[object]]) -> pa.Table:
    columns = zip(*found, strict=True)
    arrays = [pa.array(column, each.type) for column, each in zip(columns, FIELDS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(FIELDS))


def _leaf(table: str, minute: datetime, part: int, lines: list[bytes], stored: datetime) -> bytes:
    return histories.entry(
        type="rows",
        table=table,
        minute=minute.strftime(FORM),
        part=part,
        rows=len(lines),
        root=rows.minute_root(lines).hex(),
        columns=sorted(TYPES),
        ingested=[each.strftime(FORM) for each in (stored, stored + timedelta(minutes=1))],
    )


def _archive(archive: Archive, number: int, found: list[tuple[str, pa.Table, list]]) -> None:
    """Archives a day at the noon after it."""
    if number < 0:
        return
    day, noon = str(FIRST + timedelta(days=number)), _time(number + 1, 12)
    folder = _proofs(archive, day, noon) if found else ""
    for table, content, _ in found:
        _write_day(archive.root, table, day, content, folder, noon)
        archive.days[table, day] = len(content)
    records = [(table, len(content)) for table, content, _ in found]
    rows_of = [
        [f"{table}/{day}", noon.strftime(FORM), number * 10 + at, bytes(32).hex(), state]
        for table, count in records
        for at, state in enumerate(_states(table, count))
    ]
    if rows_of:
        times = [noon.strftime(FORM), (noon + timedelta(minutes=1)).strftime(FORM)]
        made_ = histories.entry(
            type="versions", table="archived_days", columns=["at"], ingested=times, rows=rows_of
        )
        archive.entries.append(made_)


def _states(table: str, count: int) -> list[list[str]]:
    location = f"{LOCATION}/{archive_days.TABLES}/{table}"
    return [[state, str(count), location] for state in ("written", "verified")]


def _proofs(archive: Archive, day: str, noon: datetime) -> str:
    """Writes the proofs of a day: the leaves from the end of the others on to its last one."""
    documents = [json.loads(each) for each in archive.entries]
    of_day = [at for at, each in enumerate(documents) if str(each.get("minute"))[:10] == day]
    folder = f"proofs/{day}/{archive.random.randbytes(8).hex()}"
    time = int(noon.timestamp())
    files = histories.log_files(archive.entries, [(len(archive.entries), time)], archive.log, archive.witness)
    files["scope.json"] = json.dumps(
        {
            "version": 1,
            "from": f"{day}T00:00:00Z",
            "to": f"{date.fromisoformat(day) + timedelta(days=1)}T00:00:00Z",
            "first": archive.reached,
            "end": of_day[-1] + 1,
            "tables": [],
            "after": archive.reached,
        }
    ).encode()
    archive.reached = of_day[-1] + 1
    for name, data in files.items():
        _write(archive.root / folder / name, data)
    return folder


def _write_day(root: Path, table: str, day: str, content: pa.Table, proofs: str, noon: datetime) -> None:
    path = f"{archive_days.TABLES}/{table}/data/event_time_day={day}/00000-aa.parquet"
    (root / path).parent.mkdir(parents=True)
    pq.write_table(content, root / path, store_schema=False, write_page_checksum=True)
    marks = b"".join(hash_[:4] for hash_ in rows.hashes(archive_rows.canonical(content, TYPES)))
    _write(root / f"{path}.marks", marks)
    data = (root / path).read_bytes()
    digests = sha256(data).hexdigest(), sha256(marks).hexdigest()
    file = ArchivedFile(path, len(data), len(content), digests[0], f"{path}.marks", digests[1])
    stored = ("1970-01-01T00:00:00Z", noon.strftime(FORM))
    part = Part("aa", stored, len(content), TYPES, [file], [], "", proofs)
    document = Day(table, day, "event_time", False, [part])
    _write(root / archive_days.file_name(table, day), document.encoded())
    metadata = root / archive_days.TABLES / table / "metadata"
    _write(metadata / "version-hint.text", b"v1")
    _write(metadata / "v1.metadata.json", json.dumps(METADATA).encode())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _delete(archive: Archive, days: list[str], with_proofs: bool = True) -> None:
    for day in days:
        for table in archive.of_day(day):
            (archive.root / archive_days.file_name(table, day)).unlink()
            shutil.rmtree(archive.root / archive_days.TABLES / table / "data" / f"event_time_day={day}")
        if with_proofs:
            shutil.rmtree(archive.root / "proofs" / day)


def _missing(archive: Archive, day: str) -> Place:
    return {"table": archive.of_day(day)[0], "day": day}


def day_deleted(archive: Archive, source: random.Random) -> Place | None:
    """A day between others, with its proofs."""
    if len(archive.names()) < 3:
        return None
    day = source.choice(archive.names()[1:-1])
    _delete(archive, [day])
    return _missing(archive, day)


def documents_of_a_day_deleted(archive: Archive, source: random.Random) -> Place | None:
    """Any day but the newest, without its proofs."""
    if len(archive.names()) < 2:
        return None
    day = source.choice(archive.names()[:-1])
    _delete(archive, [day], with_proofs=False)
    return _missing(archive, day)


def oldest_days_deleted(archive: Archive, source: random.Random) -> Place | None:
    if len(archive.names()) < 2:
        return None
    days = archive.names()[: source.randrange(1, len(archive.names()))]
    _delete(archive, days)
    return _missing(archive, source.choice(days))


def oldest_days_deleted_and_proofs_said_to_be_the_first(
    archive: Archive, source: random.Random
) -> Place | None:
    """`scope.json` is not signed: the attacker changes where the proofs of the day that is left begin."""
    if (place := oldest_days_deleted(archive, source)) is None:
        return None
    left = min(path.name for path in (archive.root / "proofs").iterdir())
    scope = next((archive.root / "proofs" / left).rglob("scope.json"))
    document = json.loads(scope.read_bytes()) | source.choice([{"after": None}, {"first": 0}])
    scope.write_text(json.dumps(document))
    return place


def newest_days_deleted(archive: Archive, source: random.Random) -> Place | None:
    """The auditor states the period, or has the newest checkpoint."""
    if len(archive.names()) < 2:
        return None
    _delete(archive, archive.names()[source.randrange(1, len(archive.names())) :])
    left = max(path.name for path in (archive.root / "proofs").iterdir())
    return {"day": str(date.fromisoformat(left) + timedelta(days=1))}


def is_much_older(archive: Archive, checkpoint: bytes) -> bool:
    """Whether the proofs that are left are older than a checkpoint by more than a day with rows explains."""
    left = max(path.name for path in (archive.root / "proofs").iterdir())
    own = next((archive.root / "proofs" / left).rglob("checkpoint")).read_bytes()
    key = archive.trust.witnesses[0]
    times = [notes.cosigned_at(notes.parse(each), key) for each in (own, checkpoint)]
    return times[1] - times[0] > LAG.total_seconds()


def row_changed(archive: Archive, source: random.Random) -> Place:
    """A value of a file, whose document and marks are written again."""
    path = source.choice(sorted((archive.root / archive_days.TABLES).rglob("*.parquet")))
    content = pq.read_table(path, partitioning=None)
    values = content["sql"].to_pylist()
    values[source.randrange(len(values))] = "DELETE ?"
    content = content.set_column(1, FIELDS[1], pa.array(values))
    table, day = path.parts[-4], path.parts[-2][-10:]
    document = archive_days.parse((archive.root / archive_days.file_name(table, day)).read_bytes())
    (part,) = document.parts
    shutil.rmtree(path.parent)
    _write_day(archive.root, table, day, content, part.proofs, datetime.fromisoformat(part.ingested[1]))
    return {"table": table}


ALL: tuple[Callable[[Archive, random.Random], Place | None], ...] = (
    *(day_deleted, documents_of_a_day_deleted, oldest_days_deleted, newest_days_deleted, row_changed),
    oldest_days_deleted_and_proofs_said_to_be_the_first,
)
