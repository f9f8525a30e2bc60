"""Events and gaps of an audit log raise alerts immediately, and each only once."""

import subprocess
import time
import urllib.request
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgpack
import pytest
from confluent_kafka import Producer
from prometheus_client.parser import text_string_to_metric_families

from e2e import commands
from e2e.health import await_alert, await_cleared
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from e2e.topics import all_records
from tailrace.cli.exit_codes import Exit
from tailrace.config.resources import REPOSITORY
from tailrace.demo import time_shift
from tailrace.kafka.client import KafkaClient
from tailrace.rules import push as rule_push
from tailrace.sources.sources_file import Source
from tailrace_local.components.detect import Detect

BRUTE_FORCE = "Many refused logins to one account"
"""Of the repository's rules: ten of a user from a host within five minutes."""

UNKNOWN_MINUTES = "Census timeout of an instance"
MISSING_BYTES = "Gap in a log"

RULE = """\
title: Refused login of a test
id: {id}
level: {level}
logsource:
  category: database
detection:
  selection:
    event_class: connection
    outcome: failure
  condition: selection
"""


@pytest.fixture(scope="module")
def stack(detecting: Stack) -> Stack:
    return detecting


class AuditLog:
    """An audit log of MariaDB's server_audit, written by hand."""

    def __init__(self, stack: Stack, directory: Path, instance: str) -> None:
        self.instance = instance
        self.path = directory / "server_audit.log"
        self.path.touch()
        self.connection = 10
        self.time = datetime.now(UTC) - timedelta(minutes=2)
        stack.watch_sources([Source(instance, "audit", self.path.resolve(), "shop", "UTC")])

    def refuse(self, user: str, count: int) -> None:
        """Appends refused logins, a second apart."""
        with self.path.open("a") as log:
            for _ in range(count):
                self.connection += 1
                self.time += timedelta(seconds=1)
                log.write(
                    f"{self.time:%Y%m%d %H:%M:%S},{self.instance},{user},10.9.8.7,{self.connection},0,"
                    "FAILED_CONNECT,,,1045\n"
                )


@pytest.fixture
def audit(stack: Stack, tmp_path: Path, request) -> AuditLog:
    return AuditLog(stack, tmp_path, f"{request.node.name.removeprefix('test_')}"[:40])


def alerts(stack: Stack, **conditions: str) -> list[dict]:
    where = " AND ".join(f"{name} = {{{name}:String}}" for name in conditions)
    return stack.clickhouse().rows(
        "SELECT toString(alert_id) AS id, rule_title, level, count, metric, length(event_ids) AS events, "
        f"link_path FROM tailrace.alerts FINAL WHERE {where} ORDER BY event_time, id",
        conditions,
    )


def brute_force(stack: Stack, user: str) -> list[dict]:
    return [alert for alert in alerts(stack, user=user) if alert["rule_title"] == BRUTE_FORCE]


def write_again(stack: Stack, topic: str) -> int:
    """Appends all records of a topic to it once more."""
    again = all_records(stack.settings, topic)
    producer = Producer({"bootstrap.servers": stack.status("kafka").address})
    for record in again:
        producer.produce(topic, record.value(), record.key(), record.partition())
    assert producer.flush(LIMIT_SECONDS) == 0
    return len(again)


@pytest.fixture
def own_rules_again(stack: Stack) -> Iterator[None]:
    """Restores the repository's rules, also after a failure: the next tests need them."""
    yield
    assert push(stack, rule_push.files(rule_push.OWN)).accepted


def push(stack: Stack, texts: dict[str, str]) -> rule_push.Outcome:
    kafka = KafkaClient(stack.status("kafka").address)
    outcome = rule_push.promote_candidate(
        kafka, stack.clickhouse(), rule_push.push(kafka, texts), LIMIT_SECONDS
    )
    assert outcome, "the job said nothing of the push"
    return outcome


def test_brute_force_alerts_once_though_the_job_is_killed_amid_it(stack: Stack, audit: AuditLog):
    audit.refuse("mallory", 6)
    wait_until(lambda: events(stack, audit.instance) >= 6, "the first events")
    stack.kill("detect")
    audit.refuse("mallory", 6)
    wait_until(lambda: brute_force(stack, "mallory"), "the alert")
    stack.kill("detect")
    stack.await_healthy()
    audit.refuse("trent", 12)
    wait_until(lambda: brute_force(stack, "trent"), "an alert after the kills")

    (alert,) = brute_force(stack, "mallory")
    assert alert["count"] == 1
    assert alert["metric"] == alert["events"] == 10
    assert alert["link_path"].startswith("/superset/dashboard/alerts/")

    def keys() -> set[str]:
        return {record.key().decode() for record in all_records(stack.settings, "tailrace.alerts")}

    # The topic and the table have a sink each.
    wait_until(lambda: alert["id"].replace("-", "") in keys(), "the alert in its topic")


def test_the_same_events_again_alert_no_more(stack: Stack, audit: AuditLog):
    audit.refuse("oscar", 12)
    wait_until(lambda: brute_force(stack, "oscar"), "the alert")
    # Other rules may also alert of oscar; their alerts are stored before those of later events.
    audit.refuse("nick", 12)
    wait_until(lambda: brute_force(stack, "nick"), "an alert after those of oscar")
    before = alerts(stack, user="oscar")
    assert write_again(stack, "tailrace.events") >= 12
    audit.refuse("peggy", 12)  # which come after them in the same partition
    wait_until(lambda: brute_force(stack, "peggy"), "the alert of later events")

    assert alerts(stack, user="oscar") == before
    assert len(brute_force(stack, "peggy")) == 1


@pytest.mark.usefixtures("own_rules_again")
def test_a_bad_push_changes_nothing_and_a_good_one_takes_effect(stack: Stack, audit: AuditLog):
    own = rule_push.files(rule_push.OWN)
    pid = stack.status("detect").pid

    bad = push(stack, {**own, "bad.yml": "title: no rule\n"})
    assert not bad.accepted
    assert "bad.yml:1:" in bad.message
    audit.refuse("victor", 12)
    wait_until(lambda: brute_force(stack, "victor"), "the alert of the old rules")

    one = {"one.yml": RULE.format(id=uuid.uuid4(), level="low")}
    good = push(stack, one)
    assert good.accepted
    assert good.rules == 1
    audit.refuse("walter", 3)
    wait_until(lambda: alerts(stack, user="walter", level="low"), "the alert of the new rule")
    assert {alert["rule_title"] for alert in alerts(stack, user="walter")} == {"Refused login of a test"}
    assert stack.status("detect").pid == pid


def test_the_topic_keeps_the_last_good_push_beside_one_that_is_refused(stack: Stack):
    own = rule_push.files(rule_push.OWN)
    kafka, clickhouse = KafkaClient(stack.status("kafka").address), stack.clickhouse()
    good = rule_push.push(kafka, own)
    assert rule_push.await_outcome(clickhouse, good.id, LIMIT_SECONDS).accepted
    rule_push.promote_last_candidate(
        kafka, clickhouse
    )  # as the next push does for one that nobody waited for
    bad = rule_push.push(kafka, {**own, "bad.yml": "title: no rule\n"})
    assert not rule_push.await_outcome(clickhouse, bad.id, LIMIT_SECONDS).accepted

    compacted = {
        record.key().decode(): record.value() for record in all_records(stack.settings, rule_push.TOPIC)
    }
    assert compacted["bundle"] == good.value
    assert compacted["candidate"] == bad.value
    outcomes = clickhouse.rows(
        "SELECT count() AS n FROM tailrace.rule_pushes WHERE push_id = {id:String}", {"id": good.id}
    )
    assert outcomes == [{"n": 1}]


def test_a_job_with_rules_has_no_complaint(stack: Stack):
    detect = Detect(stack.settings, stack.home)

    def active() -> list[str]:
        (job,) = detect.ask("/jobs/overview")["jobs"]
        known = detect.ask(f"/jobs/{job['jid']}/accumulators")["user-task-accumulators"]
        return [each["value"] for each in known if each["name"] == "rules-active"]

    # A task reports its accumulators with its heartbeats, seconds after it has applied the rules.
    wait_until(lambda: active() == ["1"], "the job to report its rules")
    wait_until(lambda: detect.problem() == "", "no complaint")


@pytest.mark.usefixtures("own_rules_again")
def test_the_command_says_what_the_job_made_of_a_push(stack: Stack, tmp_path: Path):
    def pushed(*options: str) -> subprocess.CompletedProcess:
        return commands.run(
            stack.settings.environment(), "rules", "push", tmp_path, "--wait", LIMIT_SECONDS, *options
        )

    (tmp_path / "one.yml").write_text(RULE.format(id=uuid.uuid4(), level="low"))
    good = pushed()
    assert good.returncode == Exit.OK, good.stderr
    assert "active: 1 rule, 0 detectors, 0 data classes" in good.stdout
    (tmp_path / "bad.yml").write_text("title: no rule\n")
    bad = pushed("--no-check")
    assert bad.returncode == Exit.FAILED
    assert "the previous rules stay active" in bad.stderr
    assert "bad.yml:1:1: a rule has no logsource" in bad.stderr


EXCEPTION = """
title: {title}
exception:
  rule: {rule}
  selection: {{user: {user}}}
  reason: a test
  owner: tests
  expires: {expires}
"""


def test_an_exception_suppresses_and_an_expired_one_is_reported(stack: Stack, audit: AuditLog):
    rule = str(uuid.uuid4())
    ended = EXCEPTION.format(title="Ended", rule=rule, user="erin", expires="2026-01-01")
    known = EXCEPTION.format(title="Known user", rule=rule, user="grace", expires="2126-01-01")
    one = {"one.yml": RULE.format(id=rule, level="low"), "exceptions/known.yml": known}
    try:
        assert push(stack, {**one, "exceptions/ended.yml": ended}).accepted
        await_alert(stack, "TailraceExceptionsExpired")
        for user in ("grace", "erin"):
            audit.refuse(user, 3)
        wait_until(lambda: alerts(stack, user="erin"), "the alert of the expired exception's user")
        wait_until(lambda: suppressed(stack, "Known_user") == 3, "the matches to be counted")
        assert not alerts(stack, user="grace")
    finally:
        assert push(stack, rule_push.files(rule_push.OWN)).accepted
    await_cleared(stack, "TailraceExceptionsExpired")


def suppressed(stack: Stack, exception: str) -> float:
    """Returns the number of matches that an exception suppressed, as the job's metrics contain it."""
    with urllib.request.urlopen(f"{stack.status('metrics').address}/metrics/detect", timeout=60) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    name = "flink_taskmanager_job_task_operator_exception_suppressed_matches"
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return sum(sample.value for sample in samples if sample.labels["exception"] == exception)


@pytest.mark.usefixtures("own_rules_again")
def test_an_instance_without_census_is_said_to_be_unknown(stack: Stack, audit: AuditLog):
    own = rule_push.files(rule_push.OWN)
    audit.refuse("sybil", 1)
    wait_until(lambda: events(stack, audit.instance), "the first event")
    assert not alerts(stack, instance=audit.instance, rule_title=UNKNOWN_MINUTES)

    with stack.without("census"):
        # Not before: on a busy machine a census may be later than this timeout.
        assert push(stack, {**own, "detectors.yaml": "census_timeout: {timeout: 20s}"}).accepted
        wait_until(lambda: alerts(stack, instance=audit.instance, rule_title=UNKNOWN_MINUTES), "the alert")
    (alert,) = alerts(stack, instance=audit.instance, rule_title=UNKNOWN_MINUTES)
    assert (alert["level"], alert["count"]) == ("high", 1)


def test_bytes_that_never_came_are_an_alert(stack: Stack):
    lines = Producer({"bootstrap.servers": stack.status("kafka").address})
    login = b"20261121 08:00:00,gapped,ann,10.9.8.7,1,0,CONNECT,,,0"
    for number, offset in enumerate((0, len(login) + 1, 5000, 5000 + len(login) + 1)):
        line = {
            "@timestamp": datetime.now(UTC).timestamp() + number / 1000,
            "cluster": "shop",
            "instance": "gapped",
            "source": "audit",
            "format": "auto",
            "tz": "UTC",
            "path": "/gapped/server_audit.log",
            "offset": offset,
            "log": login,
        }
        lines.produce("tailrace.audit.lines", msgpack.packb(line), "gapped", 0)
    assert lines.flush(LIMIT_SECONDS) == 0
    wait_until(lambda: alerts(stack, instance="gapped", rule_title=MISSING_BYTES), "the alert")

    (alert,) = alerts(stack, instance="gapped", rule_title=MISSING_BYTES)
    assert (alert["level"], alert["metric"]) == ("medium", 5000 - 2 * (len(login) + 1))


SHOP = REPOSITORY / "samples" / "mariadb-10.11.19.shop"
SHOP_LOGS = {"audit": "server_audit.log", "errorlog": "error.log", "slowlog": "slow.log"}
"""Source → how the name of its log ends."""


def recent(sample: Path, directory: Path) -> Path:
    """A copy of which the last entry is of now: tables refuse what is older than they keep."""
    lines = sample.read_bytes().splitlines(keepends=True)
    first, last = time_shift.time_range(lines)
    move = time_shift.linear_move(first, last, end=time.time(), span=last - first)
    copy = directory / sample.name
    copy.write_bytes(b"".join(time_shift.moved(lines, move)))
    return copy


def coverage_by_command(log: Path) -> dict[str, str]:
    """Title of the rule → why it cannot fire on such a log, as the command says it."""
    done = subprocess.run(
        [REPOSITORY / "bin/tailrace", "rules", "coverage", "--tz", "UTC", "--rules", rule_push.OWN, log],
        capture_output=True,
        text=True,
    )
    assert done.returncode == Exit.OK, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {title: reason.removeprefix("cannot fire: ") for _, title, reason in lines}


def coverage_by_job(stack: Stack, instance: str) -> dict[str, dict[str, str]]:
    """Source → title of the rule → why it cannot fire, empty where it can; of the rules in force."""
    rows = stack.clickhouse().rows(
        "SELECT toString(source) AS log, rule_title, reason, can_fire FROM tailrace.rule_coverage FINAL "
        "WHERE active AND instance = {instance:String}",
        {"instance": instance},
    )
    assert all(row["can_fire"] == (row["reason"] == "") for row in rows)
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        found.setdefault(row["log"], {})[row["rule_title"]] = row["reason"]
    return found


def hindered(answers: dict[str, str]) -> dict[str, str]:
    return {title: reason for title, reason in answers.items() if reason}


@pytest.mark.usefixtures("own_rules_again")
def test_the_job_says_of_a_server_what_the_command_says_of_its_logs(stack: Stack, tmp_path: Path):
    instance = "covered"
    logs = {
        source: recent(SHOP.with_name(f"{SHOP.name}.{end}"), tmp_path) for source, end in SHOP_LOGS.items()
    }
    by_command = {source: coverage_by_command(log) for source, log in logs.items()}
    assert all(by_command.values())
    stack.watch_sources(
        [Source(instance, source, log.resolve(), "shop", "UTC") for source, log in logs.items()]
    )

    by_job: dict[str, dict[str, str]] = {}

    def is_complete() -> bool:
        by_job.clear()
        by_job.update(coverage_by_job(stack, instance))
        has_all = by_job.keys() == {*logs, ""} and len({frozenset(each) for each in by_job.values()}) == 1
        return has_all and all(hindered(by_job[source]) == said for source, said in by_command.items())

    try:
        wait_until(is_complete, "the answers of the job to equal those of the command")
    except AssertionError:
        assert {source: hindered(by_job.get(source, {})) for source in logs} == by_command
        raise
    titles = by_job["audit"].keys()
    on_any = {title for title in titles if any(not by_job[source][title] for source in logs)}
    assert on_any <= titles - hindered(by_job[""]).keys(), "what one log suffices for, all together do"

    only = {"one.yml": RULE.format(id=uuid.uuid4(), level="low")}
    assert push(stack, only).accepted
    expected = {"audit": True, "errorlog": False, "slowlog": False, "": True}

    def is_of_the_push() -> bool:
        answers = coverage_by_job(stack, instance)
        return {log: said == {"Refused login of a test": ""} for log, said in answers.items()} == expected

    wait_until(is_of_the_push, "the answers for the new rules, and for no other")


def events(stack: Stack, instance: str) -> int:
    (row,) = stack.clickhouse().rows(
        "SELECT count() AS n FROM tailrace.audit_events WHERE instance = {instance:String}",
        {"instance": instance},
    )
    return row["n"]
