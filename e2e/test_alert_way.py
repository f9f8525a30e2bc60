"""All components together: from lines of an audit log to a webhook, and to the actions of users."""

import json
import os
import subprocess
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from e2e.limits import LIMIT_SECONDS
from e2e.receivers import WebReceiver
from e2e.stack import Stack, wait_until
from tailrace.config.resources import REPOSITORY
from tailrace.sources.sources_file import Source

DETECT_GROUP = "tailrace-detect"
BRUTE_FORCE = "Many refused logins to one account"
"""A rule of the repository: ten refused logins of a user from a host within five minutes."""


@pytest.fixture(scope="module")
def stack(detecting: Stack) -> Stack:
    return detecting


@pytest.fixture(scope="module")
def audit_log(stack: Stack, tmp_path_factory) -> Path:
    log = tmp_path_factory.mktemp("logs") / "server_audit.log"
    log.touch()
    stack.watch_sources([Source("told-db-1", "audit", log.resolve(), "shop", "UTC")])
    return log


def refuse(log: Path, user: str) -> None:
    """Twelve refused logins, a second apart."""
    begin = datetime.now(UTC) - timedelta(seconds=30)
    times = [begin + timedelta(seconds=number) for number in range(12)]
    lines = [
        f"{time:%Y%m%d %H:%M:%S},told-db-1,{user},10.9.8.7,{number},0,FAILED_CONNECT,,,1045\n"
        for number, time in enumerate(times, 10)
    ]
    with log.open("a") as out:
        out.writelines(lines)


def tailrace(stack: Stack, *words: str) -> str:
    known = ("HOME", "PATH", "USER", "LOGNAME")
    inherited = {name: os.environ[name] for name in known if name in os.environ}
    done = subprocess.run(
        [REPOSITORY / "bin" / "tailrace", "alerts", *words],
        env={**inherited, **stack.settings.environment()},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed(stack: Stack, user: str, *options: str) -> list[dict]:
    words = ("list", "--rule", BRUTE_FORCE, "--entity", f"user={user}", "--json", *options)
    return json.loads(tailrace(stack, *words))["alerts"]


def received(web: WebReceiver) -> list[tuple[str, str]]:
    """Returns rule and user of every alert that the webhook received."""
    return [(each["rule"]["name"], each.get("user", {}).get("name", "")) for each in bodies(web)]


def bodies(web: WebReceiver) -> list[dict]:
    return [json.loads(request.body) for request in web.requests]


def outcomes(stack: Stack, alert: str) -> list[str]:
    """Returns the outcome of every attempt to deliver an alert, in no order."""
    rows = stack.clickhouse().rows(
        "SELECT outcome FROM tailrace.alert_deliveries WHERE alert_id = {id:UUID}",
        {"id": str(uuid.UUID(alert))},
    )
    return [row["outcome"] for row in rows]


def await_rules_read(stack: Stack) -> None:
    """Returns when a checkpoint of the detect job contains all records of tailrace.rules."""
    place = TopicPartition("tailrace.rules", 0)
    consumer = Consumer({"bootstrap.servers": stack.status("kafka").address, "group.id": DETECT_GROUP})
    try:
        _, end = consumer.get_watermark_offsets(place, timeout=LIMIT_SECONDS)
        wait_until(lambda: consumer.committed([place], timeout=LIMIT_SECONDS)[0].offset >= end, "the silence")
    finally:
        consumer.close()


def test_refused_logins_are_delivered_and_triaged(stack, webhook, audit_log):
    refuse(audit_log, "marvin")
    wait_until(lambda: (BRUTE_FORCE, "marvin") in received(webhook), "the webhook")

    (alert,) = listed(stack, "marvin")
    # The receiver has the alert before the outcome is recorded.
    wait_until(lambda: "delivered" in outcomes(stack, alert["id"]), "the outcome")
    (posted,) = (body for body in bodies(webhook) if body.get("user", {}).get("name") == "marvin")
    page = posted["url"]["full"].removeprefix(f"http://127.0.0.1:{stack.settings.port_superset}")
    assert page.startswith("/superset/dashboard/alerts/") and "marvin" in page, "the page of the alert"
    shown = tailrace(stack, "show", alert["id"][:10])
    for text in (
        BRUTE_FORCE,
        "marvin from 10.9.8.7",
        "instance told-db-1",
        "Next steps",
        "siem: delivered",
    ):
        assert text in shown, text
    tailrace(stack, "ack", alert["id"], "--reason", "looking into it")
    tailrace(stack, "close", alert["id"], "--reason", "a forgotten password")
    assert listed(stack, "marvin") == []
    assert [each["state"] for each in listed(stack, "marvin", "--all")] == ["closed"]


def test_silenced_alerts_are_stored_and_not_delivered(stack, webhook, audit_log):
    tailrace(stack, "suppress", "--entity", "user=tess", "--for", "1h", "--reason", "penetration test")
    await_rules_read(stack)
    refuse(audit_log, "tess")
    wait_until(lambda: bool(listed(stack, "tess", "--all")), "the silenced alert")
    refuse(audit_log, "pat")
    wait_until(lambda: (BRUTE_FORCE, "pat") in received(webhook), "a later alert that is delivered")

    assert [each["status"] for each in listed(stack, "tess", "--all")] == ["silenced"]
    assert listed(stack, "tess") == []
    assert "tess" not in {user for _, user in received(webhook)}
