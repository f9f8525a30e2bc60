"""`--output table|json|csv`: the forms, the documented keys, and colours; no server is started."""

import csv
import dataclasses
import inspect
import io
import json
import re

import pytest

from tailrace import console
from tailrace.cli import main as command_line
from tailrace.cli import output
from tailrace.cli.commands import alerts, backfill, health, ledger, migrate, review
from tailrace.cli.exit_codes import Exit
from tailrace.cli.help import catalog
from tailrace.config.resources import REPOSITORY
from tailrace.evidence import reviews
from tailrace.ledger import balance
from tailrace.ledger.records import Account, LogFile
from tailrace.migrations.runner import State
from tailrace_local.cli import EXTENSION
from tailrace_local.commands import doctor, settings, status
from tailrace_local.supervisor.control import ComponentStatus, StackStatus

ROWS = [
    {"name": 'say "hi", all', "value": None, "list": ["a", 1], "extra": 1},
    {"name": "two\nlines", "value": False, "list": {"ä": 0.5}},
    {"name": "=1+1", "value": 0},
]


@pytest.fixture
def called(tmp_path, monkeypatch, capsys):
    """Runs a command line with an empty home directory; returns the exit code and the output."""
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path))

    def run(*words: str) -> tuple[int, str]:
        code = command_line.main(words, [EXTENSION])
        return code, capsys.readouterr().out

    return run


def test_csv_follows_rfc_4180():
    written = io.StringIO(newline="")
    output.write_csv(["name", "value", "list"], ROWS, written)

    assert written.getvalue() == (
        "name,value,list\r\n"
        '"say ""hi"", all",,"[""a"", 1]"\r\n'
        '"two\nlines",false,"{""ä"": 0.5}"\r\n'
        "=1+1,0,\r\n"
    )
    assert [row[0] for row in csv.reader(io.StringIO(written.getvalue(), newline=""))][1:] == [
        row["name"] for row in ROWS
    ]


def test_a_terminal_receives_no_control_codes_in_csv():
    terminal = io.StringIO(newline="")
    terminal.isatty = lambda: True
    output.write_csv(["name"], [{"name": "ann\x1b[31m"}], terminal)

    assert "\x1b" not in terminal.getvalue()


def test_settings_have_three_forms_with_the_same_values(called):
    _, table = called("settings")
    code, as_json = called("settings", "--output", "json")
    _, as_csv = called("settings", "--output", "csv")
    rows = json.loads(as_json)
    records = list(csv.DictReader(io.StringIO(as_csv, newline="")))

    assert code == Exit.OK
    assert called("settings", "--json")[1] == as_json
    assert {key for row in rows for key in row} == set(settings.KEYS[""])
    assert [record["setting"] for record in records] == [row["setting"] for row in rows]
    assert [record["value"] or None for record in records] == [
        None if row["value"] is None else row["value"] if isinstance(row["value"], str) else str(row["value"])
        for row in rows
    ]
    assert all(row["setting"] in table for row in rows)
    assert any(row["value"] is None for row in rows), "an empty value is null"


def test_the_doctor_of_logs_has_three_forms(called, tmp_path):
    (tmp_path / "sources.yaml").write_text("- {instance: db-1, source: slowlog, path: slow.log}\n")
    code, table = called("doctor")
    document = json.loads(called("doctor", "--output", "json")[1])
    records = list(csv.DictReader(io.StringIO(called("doctor", "--output", "csv")[1], newline="")))

    assert code == Exit.FAILED
    assert records == document["findings"] and set(records[0]) == set(doctor.KEYS[""])
    assert all(record["message"] in table and record["fix"] in table for record in records)


def test_the_servers_doctor_has_the_same_columns():
    from tailrace_capture.doctor import command
    from tailrace_capture.doctor.finding import Finding

    assert list(command.COLUMNS) == list(doctor.KEYS[""]) == list(Finding("", "", "").to_json())


def test_the_servers_doctor_prints_csv(capsys):
    from tailrace_capture.doctor import command
    from tailrace_capture.doctor.finding import Finding

    command._print_csv([Finding("error", "slow log", "off, \x1b", ("on db-1", "SET x"))])
    assert capsys.readouterr().out.replace("\r\n", "\n") == (
        'severity,topic,message,fix\nerror,slow log,"off, \N{REPLACEMENT CHARACTER}","on db-1\nSET x"\n'
    )


def test_keys_of_status_and_its_unknown_values():
    component = ComponentStatus("kafka", "stopped", "", None, 0, 0.0, "", "", 0, 0.0)
    row = status._json(component)

    assert list(row) == list(status.KEYS[""])
    assert {name for name, value in row.items() if value is None} == {"pid", *status.NULL_IF_EMPTY}


def test_status_shows_a_healthy_component_that_crashes(capsys):
    component = ComponentStatus(
        "fluentbit", "healthy", "", 7, 5, 0.0, "", "1.8.15", 0, 0.0, "ended by SIGSEGV", recent_restarts=5
    )
    status.show(StackStatus(1, 0.0, (component,)))
    text = "5 restarts after a crash in the last ten minutes; the last time: ended by SIGSEGV"
    assert f"fluentbit: {text}" in capsys.readouterr().out


def test_keys_of_the_ledger():
    numbers = {field.name: 0 for field in dataclasses.fields(Account)}
    account = Account(**{**numbers, "file": LogFile("db-1", "slowlog", "/slow.log", 1), "cluster": "shop"})
    row = balance._account_json(account)

    assert set(row) == set(ledger.KEYS[""])
    assert row["census_at"] is None


def test_keys_of_migrate_backfill_and_health():
    assert list(migrate._row(State(1, "0001_x", ""))) == list(migrate.KEYS[""])
    assert migrate._row(State(1, "0001_x", ""))["applied_at"] is None
    assert set(backfill.KEYS[""]) >= set(backfill.HEADER)
    assert [name for name in health.KEYS[""] if f'"{name}":' in inspect.getsource(health._json)] == list(
        health.KEYS[""]
    )


def test_keys_of_alerts_and_reviews_are_columns_of_their_queries():
    queries = REPOSITORY / "sql" / "queries"
    listed, silences = (queries / "alerts.sql").read_text(), (queries / "alerts_silences.sql").read_text()
    avro = (REPOSITORY / "schemas" / "avro" / "Alert.avsc").read_text()
    shown = set(alerts.KEYS["show"]) - set(alerts.KEYS["list"]) - {"actions", "deliveries", "link"}

    assert all(re.search(rf"\b{key}\b", listed) for key in alerts.KEYS["list"])
    assert all(re.search(rf"\b{key}\b", silences) for key in alerts.KEYS["suppressions"])
    assert all(f'"{key}"' in avro for key in shown)
    assert {"assignee", "acted_by", "verdict", "user", "rule", "ended_by"} <= alerts.NULL_IF_EMPTY
    assert all(re.search(rf"\b{key}\b", inspect.getsource(reviews.signed)) for key in review.KEYS["list"])


@pytest.mark.parametrize("command", ["alerts", "review", "reports", "ledger", "health", "credentials"])
def test_json_is_an_option_with_the_meaning_of_output_json(command):
    module = __import__(f"tailrace.cli.commands.{command}", fromlist=["run"])
    parser = catalog.parser(command, module)
    words = {"review": ["list"], "reports": ["list"], "credentials": ["show"]}.get(command, [])

    assert parser.parse_args(words).output == output.TABLE
    assert parser.parse_args([*words, "--json"]).output == output.JSON
    assert parser.parse_args([*words, "--output", "csv"]).output == output.CSV


@pytest.mark.parametrize(
    ("terminal", "environment", "coloured"),
    [
        (True, {"TERM": "xterm"}, True),
        (False, {"TERM": "xterm"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colours_need_a_terminal_and_obey_no_color(terminal, environment, coloured, monkeypatch):
    monkeypatch.setattr(console.sys, "stdout", type("Out", (), {"isatty": staticmethod(lambda: terminal)}))
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert console.styled("text", console.RED) == ("\033[31mtext\033[0m" if coloured else "text")
