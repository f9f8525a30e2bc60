"""All parts together: from lines of an audit log to a webhook, and to what people do."""

import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from e2e.receivers import WebReceiver, web_receiver
from e2e.stack import Stack, wait_until
from tailrace.settings import REPOSITORY
from tailrace.sources import Source

FIRST_PORT = int(os.environ.get("ALERT_WAY_FIRST_PORT", "22280"))
PARTS = ("kafka", "clickhouse", "flink", "detect", "census", "fluentbit", "delivery")
SECONDS = 120
BRUTE_FORCE = "Many refused logins to one account"
"""Of the repository's rules: ten of a user from a host within five minutes."""


@pytest.fixture(scope="module")
def web() -> Iterator[WebReceiver]:
    with web_receiver(FIRST_PORT + 8) as receiver:
        yield receiver


@pytest.fixture(scope="module")
def stack(tmp_path_factory, web: WebReceiver) -> Iterator[Stack]:
    """A stack that watches one audit log and tells one webhook."""
    directory = tmp_path_factory.mktemp("alerts")
    (directory / "secret").write_text("secret")
    channel = {"name": "siem", "kind": "webhook", "url": web.url, "secret_file": "secret", "min_level": "low"}
    (directory / "alerts.yaml").write_text(json.dumps({"channels": [channel]}))
    running = Stack(
        directory / "home",
        FIRST_PORT,
        PARTS,
        port_detect=str(FIRST_PORT + 7),
        alerts_config=str(directory / "alerts.yaml"),
    )
    running.up()
    yield running
    running.down()


@pytest.fixture(scope="module")
def audit_log(stack: Stack, tmp_path_factory) -> Path:
    log = tmp_path_factory.mktemp("logs") / "server_audit.log"
    log.touch()
    stack.watch_sources([Source("shop-db-1", "audit", log.resolve(), "shop", "UTC")])
    return log


def refuse(log: Path, user: str) -> None:
    """Twelve refused logins, a second apart."""
    begin = datetime.now(UTC) - timedelta(seconds=30)
    times = [begin + timedelta(seconds=number) for number in range(12)]
    lines = [
        f"{time:%Y%m%d %H:%M:%S},shop-db-1,{user},10.9.8.7,{number},0,FAILED_CONNECT,,,1045\n"
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


def told(web: WebReceiver) -> list[tuple[str, str]]:
    """Rule and user of every alert that the webhook got."""
    posted = [json.loads(request.body) for request in web.requests]
    return [(each["rule"]["name"], each.get("user", {}).get("name", "")) for each in posted]


def test_refused_logins_are_told_and_handled(stack, web, audit_log):
    refuse(audit_log, "mallory")
    wait_until(lambda: (BRUTE_FORCE, "mallory") in told(web), SECONDS, "the webhook")

    (alert,) = listed(stack, "mallory")
    shown = tailrace(stack, "show", alert["id"][:10])
    for text in (
        BRUTE_FORCE,
        "mallory from 10.9.8.7",
        "instance shop-db-1",
        "What to do next",
        "siem: delivered",
    ):
        assert text in shown, text
    tailrace(stack, "ack", alert["id"], "--reason", "looking into it")
    tailrace(stack, "close", alert["id"], "--reason", "a forgotten password")
    assert listed(stack, "mallory") == []
    assert [each["state"] for each in listed(stack, "mallory", "--all")] == ["closed"]


def test_what_is_silenced_is_kept_and_told_to_nobody(stack, web, audit_log):
    tailrace(stack, "silence", "--entity", "user=trent", "--for", "1h", "--reason", "penetration test")
    refuse(audit_log, "trent")
    wait_until(lambda: bool(listed(stack, "trent", "--all")), SECONDS, "the silenced alert")
    refuse(audit_log, "peggy")
    wait_until(lambda: (BRUTE_FORCE, "peggy") in told(web), SECONDS, "a later alert that is told")

    assert [each["status"] for each in listed(stack, "trent", "--all")] == ["silenced"]
    assert listed(stack, "trent") == []
    assert "trent" not in {user for _, user in told(web)}
