"""The life of an alert in ClickHouse, by the subcommands of `tailrace alerts`."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess

import jsonschema
import pytest
from confluent_kafka import Consumer, TopicPartition

from e2e import commands
from e2e.alert_rows import RULE, alert, grown
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, refusing_port, wait_until
from tailrace.alerts import suppressions
from tailrace.alerts.suppressions import Silence
from tailrace.alerts.triage import AlertError
from tailrace.cli.exit_codes import Exit
from tailrace.config.resources import REPOSITORY
from tailrace.credentials.names import password_name
from tailrace.kafka.client import KafkaClient
from tailrace_pages.alerts import handling


@pytest.fixture(scope="module")
def alerting(keeping: Stack) -> Stack:
    return keeping


@pytest.fixture
def raised(alerting: Stack) -> Callable[..., str]:
    """Inserts alerts in the format of the detect job; the tables are emptied first."""
    for table in ("alerts", "alert_actions", "silences", "alert_deliveries"):
        alerting.clickhouse().execute(f"TRUNCATE TABLE tailrace.{table}")

    def raise_alert(**fields) -> str:
        row = alert(**fields)
        alerting.clickhouse().insert("tailrace.alerts", [row], async_insert=0)
        return row["alert_id"].replace("-", "")

    return raise_alert


@pytest.fixture
def tailrace(alerting: Stack) -> Callable[..., CompletedProcess]:
    def call(*words: str, code: int = Exit.OK, **environment: str) -> CompletedProcess:
        done = commands.run({**alerting.settings.environment(), **environment}, "alerts", *words)
        assert done.returncode == code, done.stderr
        return done

    return call


def listed(done: CompletedProcess) -> list[str]:
    return [each["id"] for each in json.loads(done.stdout)["alerts"]]


def test_lists_the_newest_first_with_the_total(raised, tailrace):
    ids = [raised(minutes_ago=minutes) for minutes in (30, 20, 10)]

    shown = tailrace("list", "--limit", "2").stdout.splitlines()
    assert [line.split()[0] for line in shown[1:3]] == [ids[2][:8], ids[1][:8]]
    assert shown[-1] == "shown 2 of 3"
    assert "\033" not in "".join(shown), "control codes where no terminal shows them"
    assert listed(tailrace("--json")) == ids[::-1]


def test_chooses_by_level_rule_entity_and_time(raised, tailrace):
    low = raised(level="low", rule_title="Schema enumeration", rule_id="other", entity={"src_ip": "10.0.0.9"})
    critical = raised(level="critical", minutes_ago=90, entity={"user": "o'brien"}, user="o'brien")

    assert listed(tailrace("list", "--level", "medium", "--json")) == [critical]
    assert listed(tailrace("list", "--rule", "schema ENUM", "--json")) == [low]
    assert listed(tailrace("list", "--rule", RULE, "--json")) == [critical]
    assert listed(tailrace("list", "--entity", "user=O'Brien", "--json")) == [critical]
    assert listed(tailrace("list", "--entity", "src_ip=10.0.0.9", "--json")) == [low]
    assert listed(tailrace("list", "--since", "1h", "--json")) == [low]
    assert listed(tailrace("list", "--entity", "user=nobody", "--json")) == []


def test_a_grown_alert_is_one_line_with_its_newest_count(raised, tailrace):
    first = alert(minutes_ago=9)
    raised(**first)
    raised(**{**grown(first, 7), "late": True})

    (shown,) = json.loads(tailrace("list", "--json").stdout)["alerts"]
    assert (shown["alert_count"], shown["late"]) == (7, True)


def test_silenced_alerts_are_listed_only_on_request(raised, tailrace):
    silenced = raised(silenced=True)

    assert listed(tailrace("list", "--json")) == []
    assert listed(tailrace("list", "--all", "--json")) == [silenced]


def test_shows_all_that_is_needed_at_night(alerting, raised, tailrace):
    id_ = raised()
    tailrace("ack", id_[:6], "--reason", "on it", "--actor", "erin")

    shown = tailrace("show", id_[:6]).stdout
    for text in (
        "high: Dump-like read",
        id_,
        "acknowledged",
        "user=mallory",
        "mallory from 10.1.20.17 with mysqldump",
        "instance shop-db-1, cluster shop, database shop",
        "Exfiltration (TA0010), Credential Access (TA0006)",
        "T1110.003",
        "select * from cards where id > ?",
        "rows_sent: 481220",
        "Ask the owner of the account.",
        "A planned backup.",
        "erin: ack: on it",
        f"http://127.0.0.1:{alerting.settings.port_superset}/superset/dashboard/alerts/?native_filters=",
        "and 10 more",
    ):
        assert text in shown, text
    assert len(json.loads(tailrace("show", id_, "--json").stdout)["event_ids"]) == 30


def test_nothing_that_an_attacker_wrote_is_obeyed_by_the_terminal(raised, tailrace):
    name = "x\x1b[2J\nroot"
    id_ = raised(entity={"user": name}, user=name, program=name, statements=[f"select {name}"])
    tailrace("comment", id_, "--reason", "odd \x1b[31m name", "--actor", "erin")

    for words in (["list"], ["show", id_]):
        shown = tailrace(*words).stdout
        assert "\x1b" not in shown
        assert "x�[2J�root" in shown


def test_actions_are_appended_and_the_state_follows(alerting, raised, tailrace):
    id_ = raised()

    def state() -> tuple[str, str]:
        shown = json.loads(tailrace("show", id_, "--json").stdout)
        return shown["state"], shown["assignee"]

    assert state() == ("open", None)
    tailrace("ack", id_, "--reason", "on it", USER="erin", LOGNAME="erin")
    assert state() == ("acknowledged", None)
    assert listed(tailrace("list", "--open", "--json")) == []
    tailrace("assign", id_, "--to", "frank", "--reason", "knows the application")
    assert state() == ("acknowledged", "frank")
    tailrace("close", id_, "--reason", "planned dump")
    assert state() == ("closed", "frank")
    assert listed(tailrace("list", "--json")) == []
    tailrace("comment", id_, "--reason", "ticket 4711")
    tailrace("reopen", id_, "--reason", "it was not planned")
    assert state() == ("open", "frank")

    actions = alerting.clickhouse().rows("SELECT * FROM tailrace.alert_actions ORDER BY at")
    assert [each["action"] for each in actions] == ["ack", "assign", "close", "comment", "reopen"]
    assert (actions[0]["actor"], actions[0]["account"], actions[0]["reason"]) == ("erin", "analyst", "on it")


def test_a_closed_alert_has_a_verdict(raised, tailrace):
    id_ = raised()
    tailrace("close", id_, "--verdict", "false-positive", "--reason", "a backup", "--actor", "erin")

    assert json.loads(tailrace("show", id_, "--json").stdout)["verdict"] == "false positive"
    assert "closed: false positive" in tailrace("list", "--all").stdout
    assert "erin: close as false positive: a backup" in tailrace("show", id_).stdout
    tailrace("reopen", id_, "--reason", "it was none")
    assert json.loads(tailrace("show", id_, "--json").stdout)["verdict"] is None
    assert (
        "--verdict: expected one of true-positive, false-positive, benign, found 'odd'"
        in tailrace(*("close", id_, "--verdict", "odd", "--reason", "x"), code=Exit.USAGE).stderr
    )


def test_several_alerts_have_one_action_or_none(alerting, raised, tailrace):
    ids = [raised(), raised()]
    tailrace("close", ids[0], "--reason", "planned")

    refused = tailrace("close", *ids, "--reason", "planned", code=Exit.FAILED)
    assert f"{ids[0][:8]} is closed already" in refused.stderr
    assert alerting.clickhouse().rows("SELECT count() AS n FROM tailrace.alert_actions") == [{"n": 1}]
    tailrace("ack", ids[1], ids[1][:9], "--reason", "given twice")
    assert alerting.clickhouse().rows("SELECT count() AS n FROM tailrace.alert_actions") == [{"n": 2}]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("show", "ffff"), Exit.FAILED, "there is no alert ffff"),
        (("show", "mallory"), Exit.FAILED, "'mallory' is not the id of an alert"),
        (
            ("show", "0a0b"),
            Exit.FAILED,
            "0a0b matches the ids of several alerts: 0a0b0000 (Dump-like read)",
        ),
        (("ack", "0a0b1"), Exit.USAGE, "--reason is missing"),
        (("ack", "0a0b1", "--reason", " "), Exit.USAGE, "expected text, found none"),
        (("assign", "0a0b1", "--reason", "x"), Exit.USAGE, "--to is missing"),
        (("reopen", "0a0b1", "--reason", "x"), Exit.FAILED, "0a0b1000 is not closed"),
        (("list", "--since", "soon"), Exit.USAGE, "expected a span such as 30m, 24h or 7d, found 'soon'"),
        (("list", "--entity", "mallory"), Exit.USAGE, "expected FIELD=VALUE such as user=backup"),
        (("suppress", "--for", "1h", "--reason", "x"), Exit.USAGE, "give --rule, --entity or both"),
        (
            ("suppress", "--entity", "usr=backup", "--for", "1h", "--reason", "x"),
            Exit.USAGE,
            "alerts have no field 'usr'; the nearest is 'user'",
        ),
        (
            ("suppress", "--entity", "user=a", "--entity", "user=b", "--for", "1h", "--reason", "x"),
            Exit.USAGE,
            "--entity contains user twice",
        ),
        (("list", "--entity", "usr=backup"), Exit.USAGE, "alerts have no field 'usr'"),
        (
            ("suppress", "--rule", "no such", "--for", "1h", "--reason", "x"),
            Exit.FAILED,
            "give the rule's id",
        ),
        (("unsuppress", "ffff", "--reason", "x"), Exit.FAILED, "no active suppression ffff"),
    ],
)
def test_a_mistake_is_one_sentence(raised, tailrace, words, code, message):
    raised(alert_id="0a0b0000-0000-0000-0000-000000000001")
    raised(alert_id="0a0b1000-0000-0000-0000-000000000001")

    assert message in tailrace(*words, code=code).stderr


def test_a_closed_alert_must_be_reopened_first(raised, tailrace):
    id_ = raised()
    tailrace("close", id_, "--reason", "planned")

    refused = tailrace("ack", id_, "--reason", "on it", code=Exit.FAILED)
    assert f"is closed; reopen it first: tailrace alerts reopen {id_[:8]}" in refused.stderr


def test_a_silence_is_a_record_for_the_job_and_a_row_for_people(alerting, raised, tailrace):
    raised()
    tailrace(
        *("suppress", "--rule", "dump-like", "--entity", "user=backup", "--for", "2h"),
        *("--reason", "restore test", "--actor", "erin"),
    )

    (silence,) = json.loads(tailrace("suppressions", "--json").stdout)
    record = rules_topic(alerting)[f"silence/{silence['id']}"]
    jsonschema.validate(record, json.loads((REPOSITORY / "schemas" / "rules.schema.json").read_text()))
    assert (record["rule"], record["entity"], record["actor"]) == (RULE, {"user": "backup"}, "erin")
    until = datetime.fromisoformat(record["until"])
    assert timedelta(minutes=115) < until - datetime.now(UTC) <= timedelta(hours=2)
    assert silence["until"] == f"{until:%Y-%m-%d %H:%M:%S}"

    tailrace("unsuppress", silence["id"][:6], "--reason", "done", "--actor", "frank")
    assert tailrace("suppressions").stdout == "no active suppression\n"
    assert rules_topic(alerting)[f"silence/{silence['id']}"] is None
    assert "ended by frank" in tailrace("suppressions", "--all").stdout


def test_the_alert_inbox_suppresses_as_the_command_line_does(alerting, raised, tailrace, monkeypatch):
    monkeypatch.setenv("SUPERSET_ANALYST_URL", alerting.clickhouse().url)
    monkeypatch.setenv(
        "SUPERSET_ANALYST_PASSWORD_FILE", str(alerting.home.secret_file(password_name("analyst")))
    )
    monkeypatch.setenv("SUPERSET_KAFKA", f"127.0.0.1:{alerting.settings.port_kafka}")
    shown = {"rule_id": RULE, "entity": {"user": "backup"}}

    said = handling.suppress_alert(shown, "both", 8, "restore test", "erin")

    (silence,) = json.loads(tailrace("suppressions", "--json").stdout)
    assert said.startswith("Suppressed this rule for this entity until ")
    assert (silence["rule"], silence["entity"], silence["actor"]) == (RULE, {"user": "backup"}, "erin")
    record = rules_topic(alerting)[f"silence/{silence['id']}"]
    assert (record["rule"], record["entity"], record["reason"]) == (RULE, {"user": "backup"}, "restore test")
    tailrace("unsuppress", silence["id"][:6], "--reason", "done", "--actor", "frank")


def test_an_unconfirmed_silence_may_be_active(alerting, raised, tailrace):
    raised()
    producer = suppressions.producer(KafkaClient(f"127.0.0.1:{alerting.settings.port_kafka}"))
    until = datetime.now(UTC) + timedelta(hours=2)
    silence = Silence(RULE, {}, until, "erin", "restore test")
    with standing_still(alerting, "kafka"), pytest.raises(AlertError) as error:
        suppressions.suppress(alerting.clickhouse(), producer, silence)

    (row,) = json.loads(tailrace("suppressions", "--json").stdout)
    assert row["state"] == "unconfirmed"
    assert f"it may or may not be active; this ends it: tailrace alerts unsuppress {row['id'][:8]}" in str(
        error.value
    )
    tailrace("unsuppress", row["id"][:6], "--reason", "it did not begin")
    assert tailrace("suppressions").stdout == "no active suppression\n"
    assert rules_topic(alerting)[f"silence/{row['id']}"] is None


@contextmanager
def standing_still(alerting: Stack, component: str) -> Iterator[None]:
    pid = alerting.status(component).pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_silence_that_kafka_cannot_hear_of_never_began(alerting, raised, tailrace):
    raised()
    with refusing_port() as nobodys:
        refused = tailrace(
            *("suppress", "--rule", RULE, "--for", "2h", "--reason", "restore test"),
            code=Exit.FAILED,
            TAILRACE_PORT_KAFKA=str(nobodys),
        )

    assert "does not answer, nothing was changed" in refused.stderr
    assert json.loads(tailrace("suppressions", "--all", "--json").stdout) == []


def rules_topic(alerting: Stack) -> dict[str, dict | None]:
    """Returns the newest record of every key of tailrace.rules."""
    consumer = Consumer(
        {"bootstrap.servers": f"127.0.0.1:{alerting.settings.port_kafka}", "group.id": "alerts-test"}
    )
    partition = TopicPartition("tailrace.rules", 0, 0)
    consumer.assign([partition])
    _, end = consumer.get_watermark_offsets(partition, timeout=LIMIT_SECONDS)
    found: dict[str, dict | None] = {}
    last = -1

    def read() -> bool:
        nonlocal last
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            value = message.value()
            found[message.key().decode()] = json.loads(value) if value else None
            last = message.offset()
        return last >= end - 1

    wait_until(read, "the records of tailrace.rules")
    consumer.close()
    return found


def test_needs_a_running_stack(tmp_path: Path, tailrace):
    refused = tailrace("list", code=Exit.NOT_RUNNING, TAILRACE_HOME=str(tmp_path))
    assert "start it with: tailrace up" in refused.stderr
