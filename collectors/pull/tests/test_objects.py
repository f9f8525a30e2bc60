"""Reads logs from objects of stores that list in pages, fail, and delete or replace objects meanwhile."""

import gzip
import itertools
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

import pytest
from entries_puller import AZURE_ID, EntriesPuller

from e2e.pulling.fake_objects import BUCKET, FakeObjects, serve
from tailrace_pull import entries_file, object_store, objects, objects_memory
from tailrace_pull.config import Clients, Entry
from tailrace_pull.objects_memory import Memory
from tailrace_pull.remote import RemoteError

SCHEMES = ("s3", "gs", "az")
SEEDS = 6
LONG_SEEDS = 500
PREFIX = "mysql"
GROUP = "/aws/rds/instance/prod/slowquery"


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "unused")
    monkeypatch.setenv("GOOGLE_SKIP_SIGNATURE", "true")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "dW51c2Vk")
    monkeypatch.setitem(object_store.RETRIES, "max_retries", 0)


class Puller(EntriesPuller):
    def memory(self) -> Memory:
        return Memory.from_text(self.state.memory)


Connect = Callable[[FakeObjects], Puller]


@pytest.fixture
def connect() -> Iterator[Connect]:
    servers = []

    def start(fake: FakeObjects) -> Puller:
        servers.append(serve(fake))
        threading.Thread(
            target=servers[-1].serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        endpoint = f"http://127.0.0.1:{servers[-1].server_port}"
        return Puller(Clients().logs(entry_of(fake.scheme, endpoint)))

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def entry_of(scheme: str, endpoint: str) -> Entry:
    account = "logs" if scheme == "az" else ""
    url = f"{scheme}://{BUCKET}/{PREFIX}"
    return Entry("db", "db", "slowlog", "objects", "", "prod", endpoint=endpoint, url=url, account=account)


def record(scheme: str, number: int, at: datetime, server: str = "prod") -> bytes:
    """Returns a line of JSON with an entry, as the cloud of the scheme writes it."""
    statement = f"select {number};"
    time = f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"
    if scheme == "s3":
        event = {"id": f"{number}", "timestamp": int(at.timestamp() * 1000), "message": statement}
        kind = {"messageType": "DATA_MESSAGE", "logGroup": GROUP, "logStream": server}
        content: dict = {**kind, "logEvents": [event]}
    elif scheme == "gs":
        labels = {"database_id": f"shop:{server}"}
        content = {"insertId": f"{number}", "timestamp": time, "textPayload": f"{statement}"}
        content["logName"] = "projects/shop/logs/cloudsql.googleapis.com%2Fmysql-slow.log"
        content["resource"] = {"type": "cloudsql_database", "labels": labels}
    else:
        fields = {"query_time": 1, "user_host": "app[app] @ []", "sql_text": statement}
        resource = AZURE_ID + server.upper()
        content = {"time": time, "resourceId": resource, "category": "MySqlSlowLogs", "properties": fields}
    return json.dumps(content).encode() + b"\n"


def exported(numbers: list[int], at: datetime) -> bytes:
    """Returns an object of an export task of CloudWatch Logs; messages have two lines."""
    time = f"{at:%Y-%m-%dT%H:%M:%S}.000Z"
    return gzip.compress("".join(f"{time} # Time: x\nselect {each};\n" for each in numbers).encode(), mtime=0)


class Writer:
    """A cloud that exports entries; it knows what it wrote. An object is deleted or replaced only when the
    puller may know it: then a gap must record it."""

    def __init__(self, fake: FakeObjects, seed: int, is_deleting: bool) -> None:
        self.fake, self.random, self.is_deleting = fake, random.Random(seed), is_deleting
        self.written: dict[str, list[int]] = {}
        """Numbers of entries by object."""
        self.deleted: set[str] = set()
        self.replaced: set[str] = set()
        self.known: dict[str, str] = {}
        """Tags of the objects that the puller knows."""
        self.half = b""
        self.left = 40
        """How often it writes: small chunks are read more slowly than it could write."""
        self._numbers, self._names = itertools.count(1), itertools.count(1)

    def act(self) -> None:
        self.fake.now += timedelta(seconds=self.random.choice((0, 1, 20)))
        choice = self.random.random()
        if choice < 0.15 and self.left:
            self.left -= 1
            self.write()
        elif choice < 0.2 and self.is_deleting and (names := self.listed()):
            self.deleted.add(self.random.choice(names))
            self.fake.objects = {
                name: each for name, each in self.fake.objects.items() if name not in self.deleted
            }
        elif choice < 0.25 and self.is_deleting and (names := self.listed()):
            self.replace(self.random.choice(names))

    def replace(self, name: str) -> None:
        """Writes an object again. One that Azure writes may have grown unless it is smaller then."""
        number = next(self._numbers)
        lines = record(self.fake.scheme, number, self.fake.now)
        if self.fake.scheme != "az" or len(lines) < len(self.fake.objects[name].content):
            self.fake.put(name, lines)
            self.half = b""
            self.replaced.add(name)
            self.written[name].append(number)

    def listed(self) -> list[str]:
        """Returns the objects of which the puller knows all bytes."""
        tags = {name: each.tag for name, each in self.fake.objects.items()}
        return sorted(name for name, tag in self.known.items() if tags.get(name) == tag)

    def write(self) -> None:
        numbers = [next(self._numbers) for _ in range(self.random.choice((0, 1, 7, 40)))]
        scheme, at = self.fake.scheme, self.fake.now
        others = record(scheme, 0, at, "prod2")
        lines = b"".join(record(scheme, each, at) for each in numbers) + others
        if scheme == "az":
            name = f"{PREFIX}/y=2026/h={at:%H}/PT1H.json"
            if name in self.deleted:
                return
            cut = self.random.choice((0, 5))
            self.fake.append(name, self.half + lines[: len(lines) - cut])
            self.half = lines[len(lines) - cut :] if cut else b""
        else:
            late = self.random.choice(("", "0-late/"))  # before all others in a listing
            name = f"{PREFIX}/{late}{next(self._names):05}/prod/000000"
            if scheme == "s3":
                lines = self.random.choice(
                    (gzip.compress(lines, mtime=0), exported(numbers, at) if numbers else lines)
                )
            self.fake.put(name, lines)
        self.written.setdefault(name, []).extend(numbers)


@pytest.mark.long
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(SEEDS // 3, LONG_SEEDS))
def test_each_entry_is_stored_once_long(seed: int, scheme: str, connect: Connect, monkeypatch) -> None:
    check_entries(seed, scheme, connect, monkeypatch)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(SEEDS // 3))
def test_each_entry_is_stored_once(seed: int, scheme: str, connect: Connect, monkeypatch) -> None:
    check_entries(seed, scheme, connect, monkeypatch)


def check_entries(seed: int, scheme: str, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pulls 40 times while a cloud writes, the store fails and the puller is killed, then to the end.
    What is not stored was deleted or replaced, and each such object is a gap."""
    chosen = random.Random(seed)
    monkeypatch.setattr(objects, "CHUNK_BYTES", chosen.choice((300, 8 << 20)))
    fake = FakeObjects(scheme, seed, chosen.choice((2, 1000)), chosen.choice((0, 0.1)))
    writer = Writer(fake, seed, is_deleting=seed % 2 == 1)
    fake.between_calls = writer.act
    puller = connect(fake)
    for _ in range(40):
        with suppress(RemoteError):
            puller.visit(fake.now.timestamp(), chosen.choice((1000, 1 << 20)), chosen.random() < 0.2)
        writer.known = {name: each.listed_tag for name, each in puller.memory().objects.items()}
    fake.settle()
    puller.visit_until_read(fake.now.timestamp())
    stored = Counter(puller.numbers())
    expected = Counter(each for numbers in writer.written.values() for each in numbers)
    assert not stored - expected
    for name, numbers in writer.written.items():
        missing = [each for each in numbers if each not in stored]
        assert not missing or name in writer.deleted | writer.replaced
        assert not missing or any(note.startswith(name) for note in puller.notes)
    gaps = puller.gap_bytes()
    assert puller.content.count(b"\0") == gaps


def hours_later(fake: FakeObjects, hours: float) -> float:
    fake.now += timedelta(hours=hours)
    return fake.now.timestamp()


@pytest.fixture
def fake() -> FakeObjects:
    return FakeObjects("gs")


def put(fake: FakeObjects, name: str, *numbers: int) -> None:
    fake.put(f"{PREFIX}/{name}", b"".join(record(fake.scheme, each, fake.now) for each in numbers))


def test_an_object_that_was_deleted_before_it_was_read_is_a_gap(fake, connect):
    puller = connect(fake)
    put(fake, "a", 1)
    put(fake, "b", 2, 3)
    puller.visit(fake.now.timestamp(), max_bytes=1)
    size = len(fake.objects.pop(f"{PREFIX}/b").content)
    puller.visit(fake.now.timestamp())
    assert puller.numbers() == [1]
    assert puller.notes == [f"{PREFIX}/b was deleted before it was read to its end: a gap of {size} bytes"]
    assert puller.content.endswith(b"\0" * size)
    del fake.objects[f"{PREFIX}/a"]  # it was read
    assert puller.visit(fake.now.timestamp()).notes == []


def test_a_record_that_cannot_be_decoded_is_a_gap_between_others(fake, connect):
    puller = connect(fake)
    bad = b'{"logName": 7}\n'
    fake.put(f"{PREFIX}/a", record("gs", 1, fake.now) + bad + record("gs", 2, fake.now))
    puller.visit(fake.now.timestamp())
    assert puller.content == b"select 1;\n" + b"\0" * len(bad) + b"select 2;\n"
    assert "a record cannot be decoded" in puller.notes[0]


def test_an_entry_with_a_line_that_the_job_does_not_take_is_a_gap(fake, connect, monkeypatch):
    monkeypatch.setattr(entries_file, "MAX_LINE_BYTES", 10)
    puller = connect(fake)
    put(fake, "a", 1, 1234, 2)
    puller.visit(fake.now.timestamp())
    assert puller.content == b"select 1;\n" + b"\0" * len(b"select 1234;\n") + b"select 2;\n"
    assert puller.notes == [f"{PREFIX}/a: a line has more than 10 bytes: a gap of 13 bytes"]


def test_an_incomplete_last_record_waits_and_becomes_a_gap_after_a_week(fake, connect):
    puller = connect(fake)
    fake.put(f"{PREFIX}/a", record("gs", 1, fake.now) + b'{"logName"')
    puller.visit(fake.now.timestamp())
    puller.visit(hours_later(fake, 24))
    assert (puller.numbers(), puller.notes) == ([1], [])
    puller.visit(hours_later(fake, 24 * 7))
    assert puller.notes == [f"{PREFIX}/a: its last record is incomplete: a gap of 10 bytes"]
    assert puller.visit(hours_later(fake, 24)).notes == []


def test_a_record_that_was_completed_while_the_puller_was_down_is_read_once(connect):
    """Azure appends to an object, and its records have no ids by which a repetition would be recognized."""
    fake = FakeObjects("az")
    puller = connect(fake)
    lines = record("az", 1, fake.now) + record("az", 2, fake.now)
    fake.put(f"{PREFIX}/PT1H.json", lines[:-20])
    puller.visit(fake.now.timestamp())
    fake.append(f"{PREFIX}/PT1H.json", lines[-20:])
    puller.visit(hours_later(fake, 24 * 8))
    assert (puller.numbers(), puller.notes) == ([1, 2], [])


def test_a_compressed_object_that_is_damaged_is_a_gap(connect):
    fake = FakeObjects("s3")
    puller = connect(fake)
    content = exported([1], fake.now)[:-5]
    fake.put(f"{PREFIX}/prod/000000.gz", content)
    puller.visit(fake.now.timestamp())
    assert puller.content == b"\0" * len(content)
    assert "cannot be unpacked" in puller.notes[0]
    assert puller.visit(fake.now.timestamp()).notes == []


def test_a_compressed_object_that_is_too_large_is_a_gap(connect, monkeypatch):
    monkeypatch.setattr(objects, "MAX_UNPACKED_BYTES", 300)
    fake = FakeObjects("s3")
    puller = connect(fake)
    fake.put(f"{PREFIX}/prod/000000.gz", exported([1] * 50, fake.now))
    fake.put(f"{PREFIX}/prod/000001.gz", exported([2], fake.now))
    puller.visit(fake.now.timestamp())
    assert puller.numbers() == [2]
    assert "it has more than 300 bytes: a gap of" in puller.notes[0]


def test_several_visits_read_a_compressed_object_once(connect, monkeypatch):
    monkeypatch.setattr(objects, "CHUNK_BYTES", 300)
    fake = FakeObjects("s3")
    puller = connect(fake)
    fake.put(f"{PREFIX}/prod/000000.gz", exported([*range(1, 51)], fake.now))
    visits = 1
    while not puller.visit(fake.now.timestamp(), max_bytes=300).is_complete:
        visits += 1
    assert puller.numbers() == [*range(1, 51)]
    assert visits > 2
    assert fake.calls == visits + len(["the first bytes", "all"])


def test_a_record_that_is_delivered_twice_is_stored_once(connect):
    fake = FakeObjects("s3")
    puller = connect(fake)
    put(fake, "a", 1, 2)
    put(fake, "b", 2, 3)
    puller.visit(fake.now.timestamp())
    assert puller.numbers() == [1, 2, 3]


def test_records_that_firehose_joined_in_one_line_are_read_in_chunks(connect, monkeypatch):
    monkeypatch.setattr(objects, "CHUNK_BYTES", 300)
    monkeypatch.setattr(objects, "MAX_RECORD_BYTES", 600)
    fake = FakeObjects("s3")
    puller = connect(fake)
    lines = [record("s3", number, fake.now).rstrip() for number in range(1, 31)]
    bad = b'{"logGroup":7}'
    fake.put(f"{PREFIX}/a", gzip.compress(b"".join([*lines[:20], bad, *lines[20:]]), mtime=0))
    puller.visit_until_read(fake.now.timestamp())
    assert puller.numbers() == list(range(1, 31))
    assert [note.partition(": a gap of ")[2] for note in puller.notes] == [f"{len(bad)} bytes"]


def test_a_visit_reads_a_bounded_number_of_objects(fake, connect, monkeypatch):
    monkeypatch.setattr(objects, "MAX_READ_OBJECTS", 3)
    puller = connect(fake)
    for number in range(1, 8):
        put(fake, f"{number}", number)
    found = [(puller.visit(fake.now.timestamp()).is_complete, len(puller.numbers())) for _ in range(3)]
    assert found == [(False, 3), (False, 6), (True, 7)]


def test_objects_that_were_forgotten_are_not_read_again(fake, connect, monkeypatch):
    monkeypatch.setattr(objects_memory, "MAX_OBJECTS", 2)
    puller = connect(fake)
    for number in range(1, 8):
        put(fake, f"{number}", number)
        puller.visit(hours_later(fake, 10))
    assert len(puller.memory().objects) < 5
    assert puller.numbers() == list(range(1, 8))


def test_a_first_visit_reads_objects_of_a_day_or_since_the_given_time(fake, connect):
    put(fake, "old", 1)
    hours_later(fake, 25)
    put(fake, "new", 2)
    puller = connect(fake)
    puller.visit(fake.now.timestamp())
    assert puller.numbers() == [2]
