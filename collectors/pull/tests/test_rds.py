"""Errors of RDS with the messages of the puller, and files in a directory."""

import json
import threading

import pytest
from test_rds_reading import LIVE, client_of

from e2e.pulling.fake_rds import FakeRds
from e2e.pulling.query_protocol import serve
from e2e.pulling.service_http import FaultError
from tailrace_pull.__main__ import main
from tailrace_pull.rds import RdsLogs
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError, ThrottledError


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("AccessDenied", PermissionMissingError, "the policy lacks rds:DescribeDBLogFiles"),
        ("ExpiredToken", PermissionMissingError, "expired or invalid"),
        ("Throttling", ThrottledError, "Throttling"),
        ("DBLogFileNotFoundFault", FileGoneError, "DBLogFileNotFoundFault"),
        ("DBInstanceNotFound", RemoteError, "DBInstanceNotFound"),
    ],
)
def test_an_error_names_the_request_and_the_missing_permission(code, kind, text):
    fake = FakeRds(1, 5000, 100)

    def refuse() -> None:
        raise FaultError(code)

    fake.between_calls = refuse
    with pytest.raises(kind, match=text) as raised:
        RdsLogs(client_of(fake), "shop-db-1", LIVE).files()
    assert "DescribeDBLogFiles of shop-db-1" in str(raised.value)


def test_only_files_of_the_log_are_listed_the_live_one_last():
    fake = FakeRds(1, 5000, 100)
    for name in (LIVE, f"{LIVE}.2026-11-26.16", f"{LIVE}x", "error/mysql-error.log", f"{LIVE}.2026-11-26.15"):
        fake.write(name, b"x\n")
    names = [file.name for file in RdsLogs(client_of(fake), "shop-db-1", LIVE).files()]
    assert names == [f"{LIVE}.2026-11-26.16", f"{LIVE}.2026-11-26.15", LIVE]


def test_once_downloads_all_files_of_a_log(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "unused")
    fake = FakeRds(1, 5000, 100)
    content = b"".join(b"line %d\n" % number for number in range(3000))
    fake.write(f"{LIVE}.2026-11-26.15", b"first\n" + content)
    fake.write(LIVE, b"second\n" + content)
    server = serve("rds", fake.handle)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    entry = {
        "instance": "db",
        "cluster": "db",
        "source": "slowlog",
        "kind": "rds",
        "region": "r",
        "db_instance": "x",
    }
    listed = tmp_path / "logs.json"
    listed.write_text(json.dumps([{**entry, "endpoint": f"http://127.0.0.1:{server.server_port}"}]))
    try:
        words = ["once", "--logs", str(listed), "-o", str(tmp_path / "out")]
        assert main(words) == 0
        fake.write(LIVE, b"third\n")
        assert main(words) == 2
    finally:
        server.shutdown()
        server.server_close()
    files = sorted((tmp_path / "out").rglob("mysql-slowquery.log*"))
    assert [file.read_bytes() for file in files] == [b"second\n" + content, b"first\n" + content]
    assert f"{files[0]} is of an earlier run: remove it" in capsys.readouterr().err


def test_a_damaged_list_is_a_usage_error(tmp_path, capsys):
    (tmp_path / "logs.json").write_text('[{"instance": "db"}]')
    assert main(["once", "--logs", str(tmp_path / "logs.json"), "-o", str(tmp_path)]) == 2
    assert "expected a JSON list" in capsys.readouterr().err


def test_a_list_with_two_kinds_for_one_log_is_a_usage_error(tmp_path, capsys):
    entry = {"instance": "db", "cluster": "db", "source": "slowlog", "region": "r", "db_instance": "x"}
    (tmp_path / "logs.json").write_text(
        json.dumps([{**entry, "kind": "rds"}, {**entry, "kind": "cloudwatch"}])
    )
    assert main(["once", "--logs", str(tmp_path / "logs.json"), "-o", str(tmp_path)]) == 2
    assert "slowlog of db is listed with kind rds and kind cloudwatch" in capsys.readouterr().err
