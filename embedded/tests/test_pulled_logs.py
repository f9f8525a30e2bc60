"""Logs that the puller reads from a service: what doctor, health and metrics say of its heartbeat file."""

import json
import threading
import time
from pathlib import Path

import pytest

from e2e.pulling.fake_rds import FakeRds
from e2e.pulling.query_protocol import serve
from tailrace.cli import main as command_line
from tailrace.cli.exit_codes import Exit
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.health import exporter, pulled, rules
from tailrace.programs.pull import PullProgram
from tailrace.sources import pulled_logs
from tailrace.sources.pulled_logs import PulledLogState
from tailrace_local.cli import EXTENSION
from tailrace_local.doctor import service_check
from tailrace_local.doctor.pulled import findings

NOW = 1_800_000_000.0
HOUR = 3600
LOG = "- {instance: %s, source: slowlog, kind: rds, region: eu-central-1}\n"
LACKS = "DescribeDBLogFiles of db-1: the policy lacks rds:DescribeDBLogFiles"


def reported(instance: str, at: float = 0.0, problem: str = "", kind: str = "", right: str = "") -> dict:
    path = f"/rds/eu-central-1/{instance}/slowquery/mysql-slowquery.log"
    log = {"instance": instance, "source": "slowlog", "path": path, "at": at, "bytes": 2_500_000}
    return {**log, "problem": problem, "kind": kind, "right": right}


@pytest.fixture
def program(tmp_path: Path, monkeypatch) -> PullProgram:
    """The program with a list of two logs of a service."""
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path))
    (tmp_path / "sources.yaml").write_text(LOG % "db-1" + LOG % "db-2")
    settings = Settings.from_environment()
    return PullProgram(settings, Home(settings.home))


def report(program: PullProgram, *logs: dict, at: float = NOW, since: float = NOW - HOUR) -> None:
    program.heartbeat().parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"at": at, "since": since, "problem": "", "logs": logs})
    program.heartbeat().write_text(text)


def problems(program: PullProgram) -> list[tuple[str, str]]:
    return [(found.message, found.fix) for found in findings(program.logs(), NOW)]


def test_a_log_that_is_read_is_no_problem_and_one_without_a_report_is_unknown(program):
    report(program, reported("db-1", NOW - 12))
    assert [log.is_read(NOW) for log in program.logs()] == [True, False]
    assert program.logs()[0].description(NOW) == "last visit 12 s ago, 2.5 MB since the start of the puller"
    ((message, fix),) = problems(program)
    assert message == "pull: db-2 slowlog /rds/eu-central-1/db-2: no report of the puller"
    assert fix == "wait a minute, then: tailrace logs pull"


def test_a_refusal_names_the_right_and_where_to_add_it(program):
    report(program, reported("db-1", 0, LACKS, "permission", "rds:DescribeDBLogFiles"), reported("db-2", NOW))
    ((message, fix),) = problems(program)
    assert message.endswith(f"slowquery/mysql-slowquery.log: {LACKS}")
    assert fix == "add rds:DescribeDBLogFiles to the policy: docs/PULL.md#permissions"


def test_a_log_of_objects_is_found_by_its_url(program):
    entry = "- {instance: db-1, source: slowlog, kind: objects, url: 'gs://logs/mysql/'}\n"
    (program.home.root / "sources.yaml").write_text(entry)
    log = {**reported("db-1", 0, "off", "permission", "storage.objects.get")}
    report(program, {**log, "path": "/objects/gs/logs/mysql/slowlog"})
    ((message, fix),) = problems(program)
    assert message == "pull: db-1 slowlog /objects/gs/logs/mysql/slowlog: off"
    assert fix == "add storage.objects.get to the policy: docs/PULL.md#permissions"


def test_a_log_in_otlp_is_found_by_its_topic(program):
    keys = "{instance: db-1, source: slowlog, kind: otlp, url: 'kafka://k1:9092,k2:9092/logs', match: a=b}"
    (program.home.root / "sources.yaml").write_text(f"- {keys}\n")
    ((message, _),) = problems(program)
    assert message == "pull: db-1 slowlog /otlp/logs: no report of the puller"
    log = reported("db-1", 0, "the account lacks READ", "permission", "READ")
    report(program, {**log, "path": "/otlp/logs/slowlog"})
    ((message, fix),) = problems(program)
    assert message == "pull: db-1 slowlog /otlp/logs/slowlog: the account lacks READ"
    assert fix == "grant the account READ on the topic: docs/PULL.md#opentelemetry-collector"


def test_the_fix_of_a_log_table_is_its_statement(program):
    (program.home.root / "sources.yaml").write_text(
        "- {instance: db-1, source: slowlog, kind: table, defaults_file: db-1.cnf}\n"
    )
    table = {**reported("db-1", 0, "off", "setting", "SET GLOBAL slow_query_log = ON;")}
    report(program, {**table, "path": "/table/db-1/mysql/slow_log"})
    assert problems(program) == [
        (
            "pull: db-1 slowlog /table/db-1/mysql/slow_log: off",
            "on the server: SET GLOBAL slow_query_log = ON;  docs/PULL.md#log-tables",
        )
    ]


@pytest.mark.parametrize("kind", ["setting", "permission", "throttled", "gone", "failed"])
def test_each_kind_of_problem_has_a_fix_with_its_section(program, kind):
    report(program, reported("db-1", NOW - 30, "no answer", kind), reported("db-2", NOW))
    ((message, fix),) = problems(program)
    assert message.endswith("no answer; last visit 30 s ago")
    section = fix.rpartition("docs/PULL.md#")[2]
    headings = (Path(__file__).parents[2] / "docs" / "PULL.md").read_text().lower().replace(" ", "-")
    assert f"##-{section}\n" in headings


def test_a_log_that_was_not_read_for_hours_is_late_and_its_alert_fires(program):
    report(program, reported("db-1", NOW - HOUR), reported("db-2", 0))
    assert [message.partition(".log: ")[2] for message, _ in problems(program)] == [
        "last visit 1 h 0 min ago, 2.5 MB since the start of the puller",
        "never visited",
    ]
    firing = rules.firing(rules.load(), pulled.metrics_of(program.logs(), NOW))
    assert [(each.rule.name, each.value) for each in firing] == [("TailracePullUnread", HOUR)] * 2


def test_metrics_name_the_log_and_the_right_and_omit_what_is_unknown(program):
    refused = reported("db-1", NOW, LACKS, "permission", "rds:DescribeDBLogFiles")
    report(program, refused)
    metrics = list(pulled.metrics_of(program.logs(), NOW))
    (alert,) = rules.firing(rules.load(), metrics)
    assert alert.rule.name == "TailracePullRefused"
    assert alert.summary == (
        "db-1's slowlog cannot be read from its service; missing: rds:DescribeDBLogFiles"
    )
    assert "db-2" not in exporter.text(metrics)


def test_without_a_heartbeat_there_are_no_samples(tmp_path):
    assert [family.samples for family in pulled.metrics_of_heartbeat(tmp_path / "beat")] == [[], [], [], []]


def test_requests_and_bytes_are_counted_if_the_puller_reports_them():
    logs = [
        PulledLogState("db-1", "slowlog", "/log", NOW, 0, "", "", "", NOW, requests=7, received=900),
        PulledLogState("db-2", "slowlog", "/log", NOW, 0, "", "", "", NOW),
    ]
    samples = [each.samples for each in list(pulled.metrics_of(logs, NOW))[2:]]
    assert [[(each.labels["instance"], each.value) for each in one] for one in samples] == [
        [("db-1", 7)],
        [("db-1", 900)],
    ]


def test_credentials_that_are_refused_are_named_as_such():
    log = PulledLogState("db-1", "slowlog", "/log", None, 0, "expired", "permission", "", NOW)
    refused = list(pulled.metrics_of([log], NOW))[1]
    assert refused.samples[0].labels["right"] == pulled.CREDENTIALS


def test_the_component_is_healthy_while_a_log_is_refused(program):
    assert program.health().reason == "no pass yet"
    report(program, reported("db-1", 0, LACKS, "permission"), at=time.time() + HOUR)
    assert program.health().ok
    report(program, reported("db-1"), at=time.time() - HOUR)
    assert "no heartbeat for" in program.health().reason


def test_a_log_with_another_file_is_another_log(program):
    (program.home.root / "sources.yaml").write_text(LOG.replace("}", ", file: slow.log}") % "db-1")
    report(program, reported("db-1", NOW))
    assert [(log.log, log.visited_at) for log in program.logs()] == [
        ("/rds/eu-central-1/db-1/slow.log", None)
    ]
    assert len(pulled_logs.read(program.heartbeat())) == 1


def test_the_doctor_lists_pulled_logs_without_a_stack(program, capsys):
    report(program, reported("db-1", time.time() + HOUR))
    assert command_line.main(["doctor"], [EXTENSION]) == Exit.FAILED
    text = capsys.readouterr().out
    assert "ok       pull: db-1 slowlog /rds/eu-central-1/db-1/slowquery/mysql-slowquery.log: " in text
    assert "unknown  pull: db-2 slowlog /rds/eu-central-1/db-2: no report of the puller" in text
    assert "2 logs listed in " in text and "1 error" in text
    command_line.main(["doctor", "--json"], [EXTENSION])
    document = json.loads(capsys.readouterr().out)
    assert [log["instance"] for log in document["pulled"]] == ["db-1", "db-2"]


def test_the_doctor_asks_the_service_about_one_server(program, capsys, monkeypatch):
    report(program, reported("db-1", time.time() + HOUR), reported("db-2"))
    fake = FakeRds(1, 5000, 100)
    fake.write("slowquery/mysql-slowquery.log", b"x\n")
    fake.parameters["slow_query_log"] = "0"
    fake.denied = {"DownloadDBLogFilePortion"}
    server = serve("rds", fake.handle)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL_RDS", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "unused")
    try:
        assert command_line.main(["doctor", "--source", "db-1"], [EXTENSION]) == Exit.FAILED
    finally:
        server.shutdown()
        server.server_close()
    text = capsys.readouterr().out
    assert "db-1 slowlog: slow_query_log is OFF in parameter group shop\n" in text
    assert "DownloadDBLogFilePortion of db-1: the policy lacks rds:DownloadDBLogFilePortion" in text
    assert "ok       db-1 slowlog: log_output is FILE in parameter group shop" in text
    assert "unknown  no stack is running: no puller reads this server's logs\n         tailrace up" in text
    assert "db-2" not in text and "1 log listed in " in text and "2 errors" in text


def test_the_doctor_of_one_server_succeeds_without_a_stack(program, capsys, monkeypatch):
    checked = [service_check.Checked("ok", "db-1 slowlog: slow.log can be read", "")]
    monkeypatch.setattr(service_check, "check", lambda _: checked)
    assert command_line.main(["doctor", "--source", "db-1"], [EXTENSION]) == Exit.OK
    text = capsys.readouterr().out
    assert "no report of the puller" not in text and text.endswith(", 0 errors\n")


def test_the_doctor_rejects_a_server_that_is_not_listed(program, capsys):
    assert command_line.main(["doctor", "--source", "db-9"], [EXTENSION]) != Exit.OK
    assert "lists neither a log of db-9 nor the server" in capsys.readouterr().err


def test_the_doctor_of_one_server_names_the_mistake_in_the_list(program, capsys):
    second = LOG.replace("kind: rds", "kind: cloudwatch") % "db-1"
    (program.home.root / "sources.yaml").write_text(LOG % "db-1" + second)
    assert command_line.main(["doctor", "--source", "db-1"], [EXTENSION]) != Exit.OK
    assert "one log read in two ways" in capsys.readouterr().err
