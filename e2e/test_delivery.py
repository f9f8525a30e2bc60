"""Alerts reach receivers at least once, despite outages; every attempt is recorded."""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from e2e import receivers
from e2e.alert_rows import grown
from e2e.delivery_process import (
    MAIL_PORT,
    SECRET,
    WEB_PORT,
    email,
    hexadecimal,
    keys,
    webhook,
)
from e2e.health import await_alert, await_cleared
from e2e.limits import LIMIT_SECONDS
from e2e.receivers import MailReceiver, mail_receiver, web_receiver
from e2e.stack import wait_until
from tailrace.alerts.delivery import config
from tailrace.alerts.delivery.webhook import signature
from tailrace.config.resources import REPOSITORY
from tailrace.config.yaml_reader import ConfigurationError
from tailrace_local.supervisor import control


@pytest.fixture
def mails() -> Iterator[MailReceiver]:
    with mail_receiver(MAIL_PORT) as receiver:
        yield receiver


def test_an_alert_is_posted_with_ecs_fields_and_signed(delivering, web):
    delivering.begin(webhook())
    began = int(time.time())
    row = delivering.raised()
    delivering.await_outcome(row, (1, 1, "delivered"))

    (request,) = web.requests
    posted = json.loads(request.body)
    assert posted["event"]["kind"] == "alert"
    assert posted["event"]["id"] == hexadecimal(row)
    assert posted["rule"] == {"id": row["rule_id"], "name": "Dump-like read"}
    assert (posted["user"]["name"], posted["source"]["ip"]) == ("mallory", "10.1.20.17")
    assert posted["threat"]["tactic"] == {
        "id": ["TA0010", "TA0006"],
        "name": ["Exfiltration", "Credential Access"],
    }
    assert posted["threat"]["technique"]["id"] == ["T1110.003"]
    assert posted["@timestamp"] == row["event_time"].replace(" ", "T") + "Z"
    assert posted["url"]["full"] == "https://tailrace.example.com" + row["link_path"]
    assert posted["message"] == "high: Dump-like read: user=mallory on shop-db-1"
    assert posted["tailrace"]["statements"] == row["statements"]

    stamp = request.headers["Tailrace-Timestamp"]
    assert began <= int(stamp) <= time.time()
    assert request.headers["Tailrace-Signature"] == signature(SECRET.encode(), stamp, request.body)
    assert keys(web) == [f"{hexadecimal(row)}-1"]


def test_only_selected_alerts_are_delivered(delivering, web):
    before = delivering.raised()
    delivering.clickhouse.execute(
        "ALTER TABLE tailrace.alerts UPDATE ingested_at = now() - 60 WHERE 1", mutations_sync=2
    )
    delivering.begin(webhook(min_level="high", rules=["Dump-like read"]))
    low = delivering.raised(level="medium")
    other = delivering.raised(rule_title="Schema enumeration", rule_id="other")
    silenced = delivering.raised(silenced=True)
    expected = delivering.raised(level="critical")
    delivering.await_outcome(expected, (1, 1, "delivered"))
    delivering.settle()

    assert keys(web) == [f"{hexadecimal(expected)}-1"]
    assert not any(map(delivering.outcomes, (before, low, other, silenced)))


def test_a_failure_is_retried_until_it_succeeds(delivering, web):
    web.answers += [503, None, 429, 408]
    delivering.begin(webhook())
    row = delivering.raised()

    failed = [(1, attempt, "failed") for attempt in (1, 2, 3, 4)]
    delivering.await_outcome(row, *failed, (1, 5, "delivered"))
    assert len(set(keys(web))) == 1, "a receiver can tell that they are the same"


@pytest.mark.parametrize("status", [400, 401, 404, 410, 302, 307])
def test_a_refusal_is_recorded_and_not_retried(delivering, web, status):
    web.answers.append(status)
    delivering.begin(webhook())
    row = delivering.raised()
    delivering.await_outcome(row, (1, 1, "refused"))
    delivering.settle()

    assert delivering.outcomes(row) == [(1, 1, "refused")]
    assert [request.path for request in web.requests] == ["/hook"], "a redirect is not followed"


def test_an_undeliverable_alert_is_given_up_and_recorded(delivering):
    delivering.begin(webhook(retry_timeout="1s"))
    row = delivering.raised()

    delivering.await_outcome(row, (1, 1, "failed"), (1, 2, "given up"))


def test_a_service_killed_before_it_records_an_attempt_delivers_again(delivering, web):
    web.before_answer = delivering.kill
    delivering.begin(webhook())
    row = delivering.raised()
    wait_until(lambda: len(web.requests) == 1, "the first attempt")
    delivering.await_end()
    assert delivering.outcomes(row) == []

    web.before_answer = lambda: None
    delivering.start()
    delivering.await_outcome(row, (1, 1, "delivered"))
    assert keys(web) == [f"{hexadecimal(row)}-1"] * 2


def test_no_alert_is_omitted_after_an_outage_of_service_or_receiver(delivering):
    delivering.begin(webhook())
    rows = [delivering.raised() for _ in range(5)]
    delivering.stop()
    rows += [delivering.raised(minutes_ago=60 * 24 * 3) for _ in range(5)]
    delivering.start()
    wait_until(lambda: len(delivering._rows("failed")) > 3, "attempts without a receiver")
    await_alert(delivering.stack, "TailraceChannelFailing", limit=0, channel="siem")

    with web_receiver(WEB_PORT) as web:
        wait_until(
            lambda: len(delivering._rows("delivered")) == len(rows), "all of them", seconds=2 * LIMIT_SECONDS
        )
        assert set(keys(web)) == {f"{hexadecimal(row)}-1" for row in rows}
    await_cleared(delivering.stack, "TailraceChannelFailing", limit=0, channel="siem")


def test_alerts_delivered_during_an_outage_of_clickhouse_are_delivered_once(delivering, web):
    stopped = threading.Event()

    def stop_clickhouse() -> None:
        web.before_answer = lambda: None
        control.stop_component(delivering.stack.home, "clickhouse")
        stopped.set()

    web.before_answer = stop_clickhouse
    delivering.begin(webhook())
    row = delivering.raised()
    try:
        assert stopped.wait(LIMIT_SECONDS)
        wait_until(lambda: delivering.pulses()["siem"]["problem"], "the outage to be seen")
    finally:
        control.start_component(delivering.stack.home, "clickhouse")
    delivering.stack.await_healthy()

    delivering.await_outcome(row, (1, 1, "delivered"))
    delivering.settle()
    assert keys(web) == [f"{hexadecimal(row)}-1"]


def test_a_growing_alert_is_delivered_at_most_once_per_interval(delivering, web):
    delivering.begin(webhook(repeat_interval="1s"), webhook(name="seldom", repeat_interval="1h"))
    row = delivering.raised()
    delivering.await_outcome(row, (1, 1, "delivered"), (1, 1, "delivered"))
    delivering.insert(grown(row, 4))
    delivering.await_outcome(row, (1, 1, "delivered"), (1, 1, "delivered"), (4, 1, "delivered"))
    delivering.settle()

    assert sorted(keys(web)) == sorted([f"{hexadecimal(row)}-1"] * 2 + [f"{hexadecimal(row)}-4"])


def test_a_closed_alert_that_grows_is_not_delivered(delivering, web):
    delivering.begin(webhook(repeat_interval="1s"))
    row = delivering.raised()
    delivering.await_outcome(row, (1, 1, "delivered"))
    close = {"alert_id": row["alert_id"], "actor": "erin", "action": "close", "reason": "planned"}
    delivering.clickhouse.insert("tailrace.alert_actions", [close], async_insert=0)
    delivering.insert(grown(row, 9))
    delivering.settle()

    assert len(web.requests) == 1


def test_a_slow_receiver_does_not_delay_others(delivering, web, mails):
    arrived = threading.Event()
    web.before_answer = lambda: arrived.wait(2 * LIMIT_SECONDS)
    delivering.begin(webhook(timeout="1h"), email())
    rows = [delivering.raised() for _ in range(8)]

    try:
        wait_until(lambda: len(mails.mails) == len(rows), "all mails")
        wait_until(lambda: web.requests, "the request that is not answered")
        assert len(web.requests) == 1
    finally:
        arrived.set()
    delivering.await_outcome(rows[0], *[(1, 1, "delivered")] * 2)


def test_a_mail_is_complete_and_starts_no_loop(delivering, mails):
    delivering.begin(email())
    codes = "=?utf-8?q?=0ABcc:_all@example.com?= \u0085"
    row = delivering.raised(entity={"user": f"mallory\r\nBcc: all@example.com {codes}"})
    delivering.await_outcome(row, (1, 1, "delivered"))

    (mail,) = mails.mails
    assert mail["Subject"].startswith("[Tailrace high] Dump-like read: user=mallory")
    assert mail["Subject"].endswith("(shop-db-1)")
    assert mail["Bcc"] is None
    assert (mail["From"], mail["To"]) == ("tailrace@example.com", "soc@example.com")
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"] == f"<{hexadecimal(row)}-1@tailrace.invalid>"
    text = mail.get_content()
    for expected in (
        "Credential Access, T1110.003",
        "select * from cards where id > ?",
        "Ask the owner of the account.",
        "https://tailrace.example.com/superset/dashboard/alerts/?native_filters=",
        f"tailrace alerts show {row['alert_id'][:8]}",
    ):
        assert expected in text, expected


def test_deferred_mail_is_retried_and_refused_mail_is_not(delivering, mails):
    mails.answers += ["451 later", "250 accepted", "554 no"]
    delivering.begin(email())
    first = delivering.raised()
    delivering.await_outcome(first, (1, 1, "failed"), (1, 2, "delivered"))
    second = delivering.raised()

    delivering.await_outcome(second, (1, 1, "refused"))


def test_many_alerts_are_sent_in_one_mail(delivering, mails):
    delivering.begin(email(max_per_hour=3))
    delivering.stop()
    rows = [delivering.raised(minutes_ago=number) for number in range(40)]
    delivering.start()
    wait_until(lambda: len(delivering._rows("delivered")) == 40, "all alerts")

    (mail,) = mails.mails
    assert mail["Subject"] == "[Tailrace high] 40 more alerts"
    assert all(row["alert_id"][:8] in mail.get_content() for row in rows)


def test_mail_goes_encrypted_and_with_a_login(delivering, tmp_path):
    certificate, key = receivers.certificate(tmp_path)
    login = {"user": "tailrace", "password_file": "secret"}
    with mail_receiver(MAIL_PORT, (certificate, key)) as mails:
        untrusted = email(name="untrusted", security="starttls", **login)
        trusted = email(name="trusted", security="starttls", ca_file=str(certificate), **login)
        delivering.begin(untrusted, trusted)
        delivering.raised()
        wait_until(lambda: len(mails.mails) == 1, "the mail")
        assert mails.logins == [("tailrace", SECRET)]
        wait_until(lambda: delivering._rows("failed"), "the failure")
        assert "certificate verify failed" in delivering._rows("failed")[0]["detail"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min_levl": "high"}, "channel 1: unknown key 'min_levl'; the nearest known one is 'min_level'"),
        ({"min_level": "hihg"}, "`min_level` must be one of informational, low, medium, high, critical"),
        ({"repeat_interval": "1 hour"}, "`repeat_interval` must be a span such as 30s, 15m, 2h or 1d"),
        ({"url": "siem.example.com"}, "`url` must be an address that begins with https://"),
        ({"url": "https://me:secret@siem.example.com"}, "store secrets in separate files"),
        ({"secret_file": "gone"}, "`secret_file`: .* No such file or directory"),
        ({"secret": "x"}, "unknown key 'secret'; the nearest known one is 'secret_file'"),
        ({"kind": "pager"}, "`kind` must be one of webhook, email, syslog, slack, teams, .*, not 'pager'"),
        ({"name": "a b"}, "`name` must be letters, digits"),
        ({"url": "http://siem.example.com", "token_file": "secret"}, "`token_file` needs a `url`"),
    ],
)
def test_a_mistake_in_the_configuration_is_reported_with_its_key(tmp_path, change, message):
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "alerts.yaml").write_text(json.dumps({"channels": [webhook(**change)]}))

    with pytest.raises(ConfigurationError, match=message):
        config.load(tmp_path / "alerts.yaml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"to": "soc@example.com"}, "`to` must be a list of addresses"),
        ({"to": ["soc"]}, "`to` must be an address such as soc@example.com"),
        ({"user": "tailrace"}, "`user` and `password_file` go together"),
        ({"user": "tailrace", "password_file": "secret"}, "a password needs `security: starttls` or `tls`"),
        ({"port": 0}, "`port` must be a number from 1 to 65535"),
    ],
)
def test_a_mistake_about_mail_is_reported_with_its_key(tmp_path, change, message):
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "alerts.yaml").write_text(json.dumps({"channels": [email(**change)]}))

    with pytest.raises(ConfigurationError, match=message):
        config.load(tmp_path / "alerts.yaml")


def example(language: str) -> str:
    """Returns the last code block of a language in docs/ALERTS.md."""
    text = (REPOSITORY / "docs" / "ALERTS.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)[-1]


@pytest.mark.parametrize("language", ["python", "sh"])
@pytest.mark.parametrize("tamper", [False, True], ids=["genuine", "tampered"])
def test_the_documented_way_to_verify_a_signature_works(tmp_path, language, tamper):
    body, stamp = '{"message": "söhne"}'.encode(), str(int(time.time()))
    (tmp_path / "body").write_bytes(body + b" " if tamper else body)
    (tmp_path / "siem.secret").write_text(f"{SECRET}\n")
    (tmp_path / "example").write_text(example(language))
    program = {"python": sys.executable, "sh": "bash"}[language]
    done = subprocess.run(
        [program, "example", stamp, signature(SECRET.encode(), stamp, body)], cwd=tmp_path, check=False
    )

    assert (done.returncode == 0) is not tamper
