import socket
from pathlib import Path

import pytest

from tailrace.errors import UsageError
from tailrace.repair import environment, watchdog
from tailrace.sources.sources_file import Source

SERVER = {
    "TAILRACE_INSTANCE": "db-1",
    "TAILRACE_CLUSTER": "shop",
    "TAILRACE_TZ": "Europe/Berlin",
    "TAILRACE_SLOWLOG_PATH": "/var/log/mysql/slow.log, /var/log/mysql/other.log",
    "TAILRACE_SLOWLOG_FORMAT": "mysql-slow",
    "TAILRACE_AUDIT_PATH": "",
    "TAILRACE_ERRORLOG_PATH": "/var/log/mysql/error.log",
}
KAFKA = {
    "TAILRACE_KAFKA_BROKERS": "kafka-1:9093",
    "TAILRACE_KAFKA_SECURITY_PROTOCOL": "sasl_ssl",
    "TAILRACE_KAFKA_SASL_USERNAME": "tailrace-backfill",
    "TAILRACE_KAFKA_SASL_PASSWORD": "secret",
    "TAILRACE_KAFKA_CA_FILE": "",
}


def test_the_logs_are_those_of_the_collector():
    def log(source: str, name: str, form: str) -> Source:
        return Source("db-1", source, Path("/var/log/mysql", name), "shop", "Europe/Berlin", form)

    assert environment.logs(SERVER) == [
        log("slowlog", "slow.log", "mysql-slow"),
        log("slowlog", "other.log", "mysql-slow"),
        log("errorlog", "error.log", "auto"),
    ]


def test_a_pattern_and_a_server_without_logs_are_refused():
    with pytest.raises(UsageError, match="pattern"):
        environment.logs({**SERVER, "TAILRACE_AUDIT_PATH": "/var/log/mysql/audit*.log"})
    with pytest.raises(UsageError, match="_PATH"):
        environment.logs({"TAILRACE_INSTANCE": "db-1"})


def test_kafka_has_the_settings_that_are_not_empty():
    client = environment.kafka(KAFKA)
    assert client.address == "kafka-1:9093"
    assert client.properties == {
        "security.protocol": "sasl_ssl",
        "sasl.username": "tailrace-backfill",
        "sasl.password": "secret",
    }


def test_an_empty_password_of_clickhouse_is_refused():
    with pytest.raises(UsageError, match="TAILRACE_CLICKHOUSE_PASSWORD"):
        environment.clickhouse({"TAILRACE_CLICKHOUSE_URL": "http://127.0.0.1:8123"})


def test_systemd_hears_of_progress(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(10)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        watchdog.notify()
        assert systemd.recv(100) == b"WATCHDOG=1"
    monkeypatch.delenv("NOTIFY_SOCKET")
    watchdog.notify()
