"""Requests to object stores, what their errors mean, and records of exported objects."""

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer
from test_objects import GROUP, PREFIX, Puller, connect, credentials, entry_of, exported, fake, put

from e2e.pulling.fake_objects import BUCKET, FakeObjects
from tailrace.config.resources import REPOSITORY
from tailrace_pull import objects
from tailrace_pull.check import check
from tailrace_pull.config import Clients
from tailrace_pull.object_records import Undecodable, Wanted, entries_of, whole_records
from tailrace_pull.objects import StoredObject
from tailrace_pull.remote import PermissionMissingError, RemoteError, ThrottledError

__all__ = ["connect", "credentials", "fake"]  # fixtures


@pytest.fixture
def s3_server() -> Iterator[str]:
    """An S3 of other authors, which checks requests as the service does."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_objects_of_another_s3_are_listed_and_read(s3_server, fake):
    s3 = boto3.client("s3", region_name="us-east-1", endpoint_url=s3_server)
    s3.create_bucket(Bucket=BUCKET)
    for name, number in (("2/prod/000000.gz", 2), ("é 1/prod/000000.gz", 1)):  # in the order of reading
        s3.put_object(Bucket=BUCKET, Key=f"{PREFIX}/{name}", Body=exported([number], fake.now))
    store = Clients().store(entry_of("s3", s3_server))
    listed = {each.name: each for each in store.objects()}
    assert sorted(listed) == [f"{PREFIX}/2/prod/000000.gz", f"{PREFIX}/é 1/prod/000000.gz"]
    found = listed[f"{PREFIX}/é 1/prod/000000.gz"]
    assert store.read(found, 2, found.size) == exported([1], fake.now)[2:]
    check_replaced(Puller(Clients().logs(entry_of("s3", s3_server))), s3, found)


def check_replaced(puller: Puller, s3: Any, found: StoredObject) -> None:
    """Replaces the object `found` before it is read. Its tag tells."""
    at = max(each.modified for each in puller.log.store.objects()) / 1000
    puller.visit(at, max_bytes=1)
    s3.put_object(Bucket=BUCKET, Key=found.name, Body=exported([3], datetime.fromtimestamp(at, UTC)))
    puller.visit(at)
    assert puller.numbers() == [2, 3]
    reason = f"{found.name} was replaced before it was read: a gap of {found.size} bytes"
    assert puller.notes == [reason]


def test_the_file_of_exported_objects_equals_the_log_of_the_server(connect, monkeypatch):
    """Equal bytes at equal offsets are equal events. Each event of the export is an entry."""
    monkeypatch.setattr(objects, "CHUNK_BYTES", 20_000)
    log = (REPOSITORY / "samples" / "mysql-8.0.46.slow.log").read_bytes()[:60_000]
    log = log[: log.rindex(b"\n# Time: ") + 1]
    fake, events = FakeObjects("s3"), re.split(rb"(?=^# Time: )", log, flags=re.MULTILINE)
    stamped = [b"2026-11-27T10:00:00.000Z " + event for event in events if event]
    for number in range(0, len(stamped), 50):
        content = gzip.compress(b"".join(stamped[number : number + 50]))
        fake.put(f"{PREFIX}/task/prod/{number:06}.gz", content)
    puller = connect(fake)
    puller.visit_until_read(fake.now.timestamp())
    assert puller.content == log


@pytest.mark.parametrize("scheme", ["s3", "gs", "az"])
def test_an_error_says_what_was_asked_for(connect, scheme):
    fake = FakeObjects(scheme, fault_rate=1)
    puller = connect(fake)
    with pytest.raises(RemoteError, match=f"list {scheme}://{BUCKET}/{PREFIX}: ") as raised:
        puller.visit(fake.now.timestamp())
    assert type(raised.value) in (RemoteError, ThrottledError)


def test_a_bucket_that_is_missing_is_named(connect, fake):
    puller = connect(fake)
    puller.log.store._where = ("gs", "other", *puller.log.store._where[2:])
    with pytest.raises(RemoteError, match="it does not exist"):
        puller.visit(fake.now.timestamp())


@pytest.mark.parametrize(
    ("scheme", "denied", "right"),
    [
        ("s3", "list", "s3:ListBucket"),
        ("s3", "read", "s3:GetObject"),
        ("gs", "list", "storage.objects.list"),
        ("gs", "read", "storage.objects.get"),
        ("az", "list", "Storage Blob Data Reader"),
    ],
)
def test_a_missing_right_is_named(connect, scheme, denied, right):
    fake = FakeObjects(scheme)
    puller = connect(fake)
    put(fake, "a", 1)
    fake.denied = {denied}
    with pytest.raises(PermissionMissingError) as raised:
        puller.visit(fake.now.timestamp())
    assert raised.value.right == right


def test_the_check_names_what_is_missing(fake, connect):
    puller = connect(fake)
    entry = entry_of("gs", "")
    clients = Clients()
    clients.store = lambda _: puller.log.store
    (found,) = check(entry, clients)
    assert (found.severity, found.message) == ("error", f"db slowlog: there is no object below {entry.url}")
    put(fake, "a", 1)
    (found,) = check(entry, clients)
    assert (found.severity, found.message) == ("ok", f"db slowlog: {PREFIX}/a can be read")
    fake.denied = {"read"}
    (found,) = check(entry, clients)
    assert found.fix == "add storage.objects.get: docs/PULL.md#permissions-for-objects"


@pytest.mark.parametrize(
    ("log", "is_wanted"),
    [
        (("aws", GROUP, "prod", "events.log"), True),
        (("aws", GROUP, "prod.audit.1", "events.log"), True),
        (("aws", "/other", "prod", "events.log"), False),
        (("aws", "prod2", "events.log"), False),
        (("google", "shop", "prod", "mysql-slow.log"), True),
        (("google", "shop", "prod", "mysql.err"), False),
        (("azure", "0a", "prod", "slow.log"), True),
        (("azure", "0a", "prod", "audit.log"), False),
    ],
)
def test_entries_of_other_servers_and_logs_are_left_out(log, is_wanted):
    assert Wanted("slowlog", "prod", GROUP).includes(log) == is_wanted


@pytest.mark.parametrize(
    ("data", "is_end", "whole"),
    [
        (b'{"a": 1}\n{"b"', False, 9),
        (b'{"a": 1}\n{"b"', True, 9),
        (b'{"a": 1}\n{"b": 2}', True, 17),
        (b'{"a": 1}\n{"b": 2}', False, 9),
        (b'{"a": 1}{"b": 2}{"c":', False, 16),
        (b'{"a": 1}{"b": 2}{"c"', True, 8),
        (b'{"a": "}{","b": "}{\\"c\\":"}', False, 0),
        (b"2026-11-27T10:00:00.000Z a\nb\n2026-11-27T10:00:00.000Z c\n", False, 29),
        (b"2026-11-27T10:00:00.000Z a\nb\n2026-11-27T10:00:00.000Z c\n", True, 56),
        (b"2026-11-27T10:00:00.000Z a\nb\n0000-00-00T00:00:00.000Z c\n", False, 0),
    ],
)
def test_a_chunk_ends_with_a_record(data, is_end, whole):
    assert whole_records(data, is_end) == whole


@pytest.mark.parametrize(
    "line",
    [
        b'{"message": {"data": "abc"}}',
        b'{"message": {"data": "WzFd"}}',
        b'{"messageType": "DATA_MESSAGE", "logEvents": [{"id": "1"}]}',
        b'{"messageType": "DATA_MESSAGE", "logGroup": "g", "logStream": "prod", "logEvents": [3]}',
        b'{"logGroup": "g", "logStream": "prod", "id": "1", "timestamp": 1e30, "message": "x"}',
        b"[" * 100_000,
    ],
)
def test_a_record_of_any_other_form_is_undecodable_and_the_next_one_is_read(line):
    good = b'{"logGroup": "g", "logStream": "prod", "id": "1", "timestamp": 1, "message": "x"}\n'
    bad, entry = entries_of(line + b"\n" + good, "a")
    assert isinstance(bad, Undecodable) and bad.size == len(line) + 1
    assert entry.entry == b"x\n"


def test_an_impossible_time_in_a_statement_begins_no_event():
    """Any client of a database can write such a line."""
    message = b"# Time: x\ninsert into t values ('\n0000-00-00T00:00:00.000Z x');\n"
    data = b"2026-11-27T10:00:00.000Z " + message + b"2026-11-27T10:00:01.000Z y\n"
    assert [each.entry for each in entries_of(data, "task/prod/000000")] == [message, b"y\n"]
