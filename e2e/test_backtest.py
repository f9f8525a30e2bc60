"""A backtest of the stored events raises the alerts that the detect job raised."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from e2e.stack import Stack, wait_until
from tailrace.cli.exit_codes import Exit
from tailrace.config.resources import REPOSITORY
from tailrace.rules import push as rule_push
from tailrace.sources.sources_file import Source

INSTANCE = "backtested"
RECORD = re.compile(r"^20\d{6} [\d:]{8},(?=.*,\d*,QUERY,)")
"""The time of a statement in an audit log of MariaDB."""
RECORDS_PER_SECOND = 20
BRUTE_FORCE = "Many refused logins to one account"
ADMINISTRATOR = "Refused login of an account that administers servers"


@pytest.fixture(scope="module")
def stack(detecting: Stack) -> Stack:
    return detecting


def attacks() -> list[str]:
    """The statements that make the rules of the pack fire, and refused logins, up to a minute ago.

    One login is that of an account that administered two days before.
    """
    fixtures = sorted(rule_push.OWN.rglob("*.fires*.log"))
    records = [line for path in fixtures for line in path.read_text().splitlines() if RECORD.match(line)]
    refused = [f"x,db1,trudy,10.9.8.7,{9000 + n},0,FAILED_CONNECT,,,1045" for n in range(12)]
    taken = timedelta(seconds=(len(records) + len(refused)) / RECORDS_PER_SECOND)
    start = datetime.now(UTC) - timedelta(minutes=1) - taken
    administered = "x,db1,olga,10.9.8.1,8999,1,QUERY,shop,'SET GLOBAL max_connections = 300',0"
    refused.append("x,db1,olga,10.9.8.99,9999,0,FAILED_CONNECT,,,1045")
    timed = [(start - timedelta(days=2), administered)]
    for n, record in enumerate([*records, *refused]):
        timed.append((start + timedelta(seconds=n // RECORDS_PER_SECOND), record))
    return [f"{time:%Y%m%d %H:%M:%S},{record.split(',', 1)[1]}\n" for time, record in timed]


def rules_over_single_events() -> set[str]:
    documents = [
        document for path in rule_push.OWN.rglob("*.yml") for document in yaml.safe_load_all(path.read_text())
    ]
    return {document["id"] for document in documents if "detection" in document}


def backtest(stack: Stack, *options: str) -> list[dict]:
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("TAILRACE_")}
    run = subprocess.run(
        [sys.executable, "-m", "tailrace_local", "rules", "backtest", *options, "--output", "json"],
        env={**inherited, **stack.settings.environment(), "PYTHONPATH": str(REPOSITORY / "embedded")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == Exit.OK, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def alerts(stack: Stack, condition: str = "1") -> set[tuple[str, str]]:
    rows = stack.clickhouse().rows(
        "SELECT DISTINCT rule_id, toString(alert_id) AS id FROM tailrace.alerts FINAL"
        f" WHERE instance = '{INSTANCE}' AND {condition}"
    )
    return {(row["rule_id"], row["id"]) for row in rows}


def stored(stack: Stack) -> int:
    query = f"SELECT count() AS n FROM tailrace.audit_events WHERE instance = '{INSTANCE}'"
    return stack.clickhouse().rows(query)[0]["n"]


def test_a_backtest_of_stored_events_raises_the_alerts_of_the_job(stack: Stack, tmp_path: Path):
    log = tmp_path / "server_audit.log"
    lines = attacks()
    log.write_text("".join(lines))
    stack.watch_sources([Source(INSTANCE, "audit", log.resolve(), "shop", "UTC")])
    wait_until(lambda: stored(stack) >= len(lines), "all events to be stored")

    rows = backtest(stack, "--instance", INSTANCE, "--since", "3d", "--warm-up", "1d", "--samples", "100000")
    found = {(row["rule_id"], row["alert_id"]) for row in rows if row["section"] == "sample"}
    not_judged = {row["rule_id"] for row in rows if row["section"] == "not_judged"}
    compared = rules_over_single_events() - not_judged
    expected = {alert for alert in found if alert[0] in compared}
    assert len({rule for rule, _ in expected}) > 50

    def of_the_job() -> set[tuple[str, str]]:
        return {alert for alert in alerts(stack) if alert[0] in compared}

    wait_until(lambda: of_the_job() >= expected, "the alerts of the backtest to be those of the job")
    assert of_the_job() == expected
    of_trudy = f"rule_title = '{BRUTE_FORCE}' AND user = 'trudy'"
    wait_until(lambda: alerts(stack, of_trudy), "the alert of a correlation")
    (guessed,) = alerts(stack, of_trudy)
    assert guessed in found
    (of_administrator,) = alerts(stack, f"rule_title = '{ADMINISTRATOR}' AND user = 'olga'")
    assert of_administrator in found


DRAFT = """\
title: {title}
id: {id}
level: low
logsource:
  category: database
detection:
  selection:
    {selection}
  condition: selection
"""
DROPS = "5d0f6f0a-6a56-4a5c-9a57-0b7b3f0f6b01"
NAMES = "5d0f6f0a-6a56-4a5c-9a57-0b7b3f0f6b02"


def test_a_draft_is_compared_with_its_other_version(stack: Stack, tmp_path: Path):
    """It needs the events of the test above."""

    def draft(name: str, title: str, rule_id: str, selection: str) -> str:
        path = tmp_path / name
        path.write_text(DRAFT.format(title=title, id=rule_id, selection=selection))
        return str(path)

    drops = draft("drops.yml", "Drops", DROPS, "verb: [drop, grant]")
    names = draft("names.yml", "Names", NAMES, "target_user: eve")
    other = draft("other.yml", "Drops", DROPS, "verb: drop")
    rows = backtest(stack, drops, names, "--against", other, "--instance", INSTANCE, "--since", "2d")

    (summary,) = (row for row in rows if row["section"] == "rule" and row["rule_id"] == DROPS)
    dropped, granted = statements(stack, "DROP"), statements(stack, "GRANT")
    assert dropped and granted
    assert summary["detail"].startswith(f"raised {dropped + granted}, against {dropped}; added ")
    assert summary["detail"].endswith("removed 0")
    (obstacle,) = (row for row in rows if row["section"] == "not_judged" and not row["item"])
    assert (obstacle["rule_id"], obstacle["detail"]) == (
        NAMES,
        "cannot be judged: target_user is not stored",
    )


def statements(stack: Stack, verb: str) -> int:
    query = (
        "SELECT count() AS n FROM tailrace.audit_events"
        " WHERE instance = {instance:String} AND verb = {verb:String}"
    )
    return stack.clickhouse().rows(query, {"instance": INSTANCE, "verb": verb})[0]["n"]
