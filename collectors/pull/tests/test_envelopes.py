"""Exports of Cloud SQL and Azure Database for MySQL become log files."""

import base64
import gzip
import json
import random
from pathlib import Path

import pytest

from tailrace_pull import importing
from tailrace_pull.__main__ import main
from tailrace_pull.envelopes import EnvelopeError, decode, google_entries, records

GOLDEN = Path(__file__).parent / "envelopes"
GOOGLE, AZURE = GOLDEN / "google.jsonl", GOLDEN / "azure.json"


def test_entries_of_cloud_sql_are_ordered_and_each_is_written_once(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json.gz").write_bytes(gzip.compress(GOOGLE.read_bytes()))
    done = importing.run(tmp_path / "in", tmp_path / "out")
    written = tmp_path / "out" / "google" / "shop-prod" / "db-1"
    assert (written / "mysql-slow.log").read_bytes() == (GOLDEN / "google.slow.log").read_bytes()
    assert (written / "mysql.err").read_text().endswith("Aborted connection 41 to db: 'shop'\n")
    offset = (GOLDEN / "google.slow.log").read_text().encode().index(b"# Time", 1)
    assert (written / "mysql-slow.log.ids").read_text().splitlines() == [
        "0\t2026-11-21T02:49:03.496201+00:00\ts=1;i=1",
        f"{offset}\t2026-11-21T02:49:19.811511+00:00\ts=2;i=2",
    ]
    assert (done.entries, done.repeated, done.others, done.problems) == (3, 1, 1, [])


def test_records_of_azure_become_entries_in_the_formats_of_servers(tmp_path):
    done = importing.run(GOLDEN, tmp_path)
    written = tmp_path / "azure" / "0a" / "shop-db"
    for name in ("slow.log", "audit.log"):
        assert (written / name).read_bytes() == (GOLDEN / f"azure.{name}").read_bytes()
    assert {Path(problem.split(": ")[0]).name for problem in done.problems} == {
        "azure.slow.log",
        "google.slow.log",
    }


def log_entry(chosen: random.Random) -> dict[str, object]:
    """Returns an entry of Cloud Logging. Some are of other resources, or have not the published form."""
    path = "projects/shop/logs/cloudsql.googleapis.com%2Fmysql-slow.log"
    times = ["2026-11-27T10:00:00.123456789Z", "2026-11-27T10:00:00+02:00"]
    made: dict[str, object] = {
        "logName": chosen.choice([path] * 9 + ["projects/shop/logs/syslog"]),
        "resource": {
            "type": chosen.choice(["cloudsql_database"] * 9 + ["gce_instance"]),
            "labels": chosen.choice([{"database_id": "shop:prod", "region": "eu"}] * 19 + [{}]),
        },
        "timestamp": chosen.choice(times * 20 + ["now"]),
        "textPayload": chosen.choice(["select 1;", "select 'é';\n", "\r\n\n", "", "😀"]),
    }
    more = {"insertId": chosen.choice(["", "a"]), "severity": "INFO", "message": {"data": "e30="}}
    made |= {key: more[key] for key in chosen.choices([*more], [20, 20, 1], k=2)}
    if chosen.random() < 0.02:
        made["jsonPayload"] = {"message": made.pop("textPayload")}
    return made


def test_entries_of_cloud_sql_that_are_decoded_at_once_are_those_of_their_records():
    chosen, numbers = random.Random(1), []
    for _ in range(500):
        lines = [log_entry(chosen) for _ in range(chosen.randrange(6))]
        found = google_entries(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        if found is not None:
            decoded = [decode(record) for line in lines for record in records(json.dumps(line))]
            assert found == [each for each in decoded if each is not None]
            numbers.append(len(found))
    assert 100 < len(numbers) < 500
    assert sum(numbers) > 100


def test_entries_of_cloud_sql_are_decoded_at_once():
    line = next(line for line in GOOGLE.read_bytes().splitlines() if b"slow.log" in line)
    entry = decode(json.loads(line))
    assert google_entries(line + b"\n" + line) == [entry, entry]


def test_messages_of_pubsub_contain_the_record():
    (first, *_) = records(GOOGLE.read_text())
    message = {"message": {"data": base64.b64encode(json.dumps(first).encode()).decode()}}
    assert list(records(json.dumps(message))) == [first]


def test_events_of_a_subscription_are_written_once_by_their_id(tmp_path):
    events = [{"id": f"{number}", "timestamp": 1000 * number, "message": f"m{number}"} for number in (2, 1)]
    message = {"messageType": "DATA_MESSAGE", "logGroup": "/aws/rds/x/slowquery", "logStream": "prod"}
    control = {"messageType": "CONTROL_MESSAGE", "logEvents": [{"id": "", "timestamp": 0, "message": "CWL"}]}
    (tmp_path / "in").mkdir()
    sent = json.dumps({**message, "logEvents": events})
    (tmp_path / "in" / "a").write_text(sent + json.dumps(control) + sent)
    done = importing.run(tmp_path / "in", tmp_path / "out")
    (file,) = done.files
    assert file == tmp_path / "out" / "aws" / "_aws_rds_x_slowquery" / "prod" / "events.log"
    assert (file.read_text(), done.repeated) == ("m1\nm2\n", 2)


def test_objects_of_an_export_task_are_the_messages_by_time(tmp_path):
    stream = tmp_path / "in" / "exported" / "task" / "prod"
    stream.mkdir(parents=True)
    slow = (GOLDEN / "google.slow.log").read_text()
    half = slow.index("# Time", 1)
    late, early = (f"2026-11-21T02:49:{second}.000Z " for second in (20, 10))
    (stream / "000000.gz").write_bytes(gzip.compress((late + slow[half:]).encode()))
    (stream / "000001.gz").write_bytes(gzip.compress((early + slow[:half]).encode()))
    importing.run(tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out" / "aws" / "prod" / "events.log").read_text() == slow


SPLIT = 16_384
LINES = [b"# Time: 2026-11-21T02:49:19.811511Z", b"x" * (2 * SPLIT + 7), b"", b"\xff;"]


def parts(line: bytes) -> list[tuple[bytes, bool]]:
    """Returns the parts of a line as a runtime splits it, and whether each is the last one."""
    starts = range(0, max(1, len(line)), SPLIT)
    return [(line[at : at + SPLIT], at + SPLIT >= len(line)) for at in starts]


def test_lines_of_a_kubernetes_container_are_joined(tmp_path):
    pod = tmp_path / "in" / "shop_db-0_uid" / "mysql"
    pod.mkdir(parents=True)
    written = b""
    for second, line in enumerate(LINES):
        for part, is_last in parts(line):
            tag = b"F" if is_last else b"P"
            # The clock steps back.
            written += b"2026-11-21T02:49:%02d.123456789+01:00 stdout %s %s\n" % (50 - second, tag, part)
            written += b"2026-11-21T02:49:%02d.2Z stderr F other\n" % second
    (pod / "0.log").write_bytes(written)
    importing.run(tmp_path / "in", tmp_path / "out")
    found = tmp_path / "out" / "containers" / "shop_db-0_uid_mysql"
    assert (found / "stdout.log").read_bytes() == b"\n".join(LINES) + b"\n"
    assert set((found / "stderr.log").read_text().splitlines()) == {"other"}


def test_lines_of_a_docker_container_are_joined(tmp_path):
    lines = [*(line.decode(errors="replace").encode() for line in LINES), b"x" * (SPLIT + 1)]
    written = [
        {"log": part.decode() + "\n" * is_last, "stream": "stdout", "time": f"2026-11-21T02:49:0{second}.1Z"}
        for second, line in enumerate(lines)
        for part, is_last in parts(line)
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "shop-json.log").write_text(
        "\n".join(json.dumps(each, separators=(",", ":")) for each in written[:-1])
    )
    importing.run(tmp_path / "in", tmp_path / "out")
    found = (tmp_path / "out" / "containers" / "shop-json" / "stdout.log").read_bytes()
    assert found == b"\n".join([*lines[:-1], b"x" * SPLIT]) + b"\n"


@pytest.mark.parametrize("rest", [b"2026 stdout F x", b"not a line"])
def test_a_line_without_the_envelope_of_its_file_is_a_problem(tmp_path, rest):
    (tmp_path / "x").write_bytes(b"2026-11-21T02:49:00Z stdout F x\n" + rest)
    assert "expected TIME STREAM TAG LINE" in importing.run(tmp_path, tmp_path / "out").problems[0]


@pytest.mark.parametrize("field", ["user_host", "thread_id", "db"])
def test_a_header_of_a_slow_entry_stays_on_its_line(field):
    record = next(records(AZURE.read_text()))
    record["properties"][field] = "x\n# Time: 2030-01-01T00:00:00Z\r# User@Host: forged"
    lines = decode(record).entry.decode().splitlines()
    assert len(lines) == 7
    assert [line for line in lines if line.startswith("# Time")] == [lines[0]]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ('{"a": 1}\n{', "line 2: expected JSON"),
        ("[1]", "line 1: expected a JSON object, found int$"),
        ('["select secret"]', "line 1: expected a JSON object, found str$"),
    ],
)
def test_a_file_that_is_no_export_names_the_line(document, problem):
    with pytest.raises(EnvelopeError, match=problem):
        list(records(document))


def test_a_problem_shows_no_value_of_a_record():
    record = next(records(AZURE.read_text()))
    record["properties"]["query_time"] = "secret"
    with pytest.raises(EnvelopeError, match=r"expected a published record: ValueError$"):
        decode(record)


def test_a_record_without_a_field_is_a_problem_and_the_others_are_written(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    good, *_ = records(GOOGLE.read_text())
    bad = {**good, "resource": {"type": "cloudsql_database"}}
    (tmp_path / "in" / "x").write_text(json.dumps(bad) + "\n" + json.dumps(good))
    assert main(["import", "--from", str(tmp_path / "in"), "-o", str(tmp_path / "out")]) == 1
    written = tmp_path / "out" / "google" / "shop-prod" / "db-1" / "mysql-slow.log"
    text = capsys.readouterr()
    assert text.out.splitlines()[0] == str(written)
    assert "expected a published record: KeyError('labels')" in text.err


@pytest.mark.parametrize(
    "content",
    [b"\x1f\x8bnot gzip", gzip.compress(b"{}" * 99)[:-9], b"\xff\xfe", b'{"message": {"data": "e"}}'],
)
def test_a_damaged_file_is_a_problem(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    done = importing.run(tmp_path, tmp_path / "out")
    assert len(done.problems) == 1 and done.files == []


def test_names_in_records_lead_to_no_other_directory(tmp_path):
    (tmp_path / "in").mkdir()
    record, *_ = records(GOOGLE.read_text())
    record["resource"]["labels"]["database_id"] = "../../x:../y"
    (tmp_path / "in" / "x").write_text(json.dumps(record))
    (file,) = importing.run(tmp_path / "in", tmp_path / "out").files
    assert file == tmp_path / "out" / "google" / "_.._x" / "_y" / "mysql-slow.log"
