"""The messages of alerts for other products: values, escapes and deduplication keys of each format."""

import json
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e import receivers
from e2e.alert_rows import alert
from e2e.limits import LIMIT_SECONDS
from tailrace.alerts.callbacks import tools as callback_tools
from tailrace.alerts.delivery import (
    config,
    event_lines,
    formats,
    ocsf,
    service,
    services,
    syslog,
    trial,
)
from tailrace.alerts.delivery.config import HttpService, Selection, Syslog
from tailrace.alerts.delivery.delivery_log import DELIVERED, FAILED, Due
from tailrace.config.yaml_reader import ConfigurationError

DASHBOARDS = "https://tailrace.example.com"
HOSTILE = "mallory|suser=root\\ \r\n\tsrc=1.2.3.4 <!channel> *bold* [x](http://evil)"
TIME = "2026-03-01 10:00:00.250000"
MILLIS = 1_772_359_200_250


def row(**fields) -> dict:
    """An alert as the delivery service reads it, with fixed times."""
    times = {"event_time": TIME, "window_from": "2026-03-01 09:55:00.000000", "detected_at": TIME}
    return alert(**{**times, "late": False, "instance": "shop-db-1", **fields})


def due(closed: bool = False, **fields) -> Due:
    return Due(row(**fields), 1, 0, closed)


def test_cef_has_one_header_of_seven_fields_and_escaped_values():
    line = event_lines.cef(row(user=HOSTILE, rule_title="a|b\\c"), DASHBOARDS)
    header, extension = line.split("|8|", 1)
    assert header.startswith("CEF:0|Tailrace|Tailrace|") and header.endswith(r"|a\|b\\c")
    assert r"suser=mallory|suser\=root\\    src\=1.2.3.4 " in extension
    assert re.findall(r"(?<!\\)\bsrc=(\S+)", extension) == ["10.1.20.17"]
    assert f"end={MILLIS} rt={MILLIS}" in extension
    assert "cs1Label=entity cs1=user\\=mallory" in extension
    assert line.isprintable()


@pytest.mark.parametrize(
    ("address", "field"),
    [("10.1.20.17", "src=10.1.20.17"), ("2001:db8::1", "c6a2=2001:db8::1"), ("app.example.com", None)],
)
def test_cef_has_a_field_for_each_kind_of_address(address, field):
    found = re.search(r"(?:src|c6a2)=\S+", event_lines.cef(row(src_ip=address), DASHBOARDS))
    assert (found and found[0]) == field


def test_leef_separates_its_fields_by_tabs_only():
    line = event_lines.leef(row(user=HOSTILE), DASHBOARDS)
    header, _, rest = line.partition("|x09|")
    assert header.count("|") == 4
    fields = dict(field.split("=", 1) for field in rest.split("\t"))
    assert fields["src"] == "10.1.20.17" and fields["usrName"].startswith("mallory|suser=root\\")
    assert fields["devTime"] == "2026-03-01T10:00:00.250Z" and fields["sev"] == "8"


def test_an_ocsf_finding_has_the_required_attributes():
    finding = ocsf.document(row(), DASHBOARDS)
    assert (finding["class_uid"], finding["category_uid"], finding["type_uid"]) == (2004, 2, 200_401)
    assert (finding["activity_id"], finding["severity_id"], finding["time"]) == (1, 4, MILLIS)
    assert finding["metadata"]["product"]["vendor_name"] == "Tailrace"
    assert finding["metadata"]["version"] == ocsf.VERSION
    assert finding["finding_info"]["title"] == "Dump-like read"
    *tactics, technique = finding["finding_info"]["attacks"]
    assert [each["tactic"]["uid"] for each in tactics] == ["TA0010", "TA0006"]
    assert (technique["technique"]["uid"], technique["sub_technique"]["uid"]) == ("T1110", "T1110.003")
    assert finding["evidences"][0]["actor"]["user"]["name"] == "mallory"
    assert {each["type_id"]: each["value"] for each in finding["observables"]} == {
        4: "mallory",
        2: "10.1.20.17",
        1: "shop-db-1",
    }


def test_an_ocsf_finding_that_grows_is_an_update_of_the_same_finding():
    first = row()
    grown = {**first, "count": 7}
    new, update = (ocsf.document(each, DASHBOARDS) for each in (first, grown))
    assert (update["activity_id"], update["type_uid"], update["count"]) == (2, 200_402, 7)
    assert update["finding_info"]["uid"] == new["finding_info"]["uid"]
    assert update["metadata"]["uid"] != new["metadata"]["uid"]


def empty_values(value: object) -> Iterator[object]:
    """Yields each value without content, at any depth."""
    if value in ("", None, [], {}):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from empty_values(each)


@pytest.mark.parametrize("name", formats.DOCUMENTS)
def test_unknown_values_are_omitted(name):
    document = formats.DOCUMENTS[name](
        row(user="", src_ip="", program="", statements=[], facts={}), DASHBOARDS
    )
    assert not [*empty_values(document)]


@pytest.mark.parametrize("name", formats.LINES)
def test_a_syslog_message_is_one_line(name):
    text = syslog.message(row(), formats.LINES[name](row(user=HOSTILE, instance="a b\nc"), DASHBOARDS))
    assert re.match(r"<83>1 2026-03-01T10:00:00\.250000Z shop-db-1 tailrace - alert - \S", text)
    assert "\n" not in text and "\r" not in text


def test_a_hostname_has_no_blank():
    assert " a_b_c tailrace " in syslog.message(row(instance="a b\nc"), "x")
    assert "Z - tailrace " in syslog.message(row(instance=""), "x")


def built(kind: str, secret: str = "the key", **fields) -> tuple[str, dict, dict]:
    """Returns address, headers and body of a service's request."""
    service = HttpService("x", Selection(), kind, "https://service.example.com/v2/alerts", Path("unused"))
    return services.BUILDERS[kind](due(**fields), DASHBOARDS, service, secret)


def test_slack_escapes_what_would_notify_a_channel_or_format_a_name():
    url, _, body = built("slack", "https://hooks.example.com/secret", entity={"user": HOSTILE})
    text = json.dumps(body)
    assert url == "https://hooks.example.com/secret"
    assert "<!channel>" not in text and "&lt;!channel&gt;" in text
    assert "*bold*" not in text
    assert body["blocks"][0]["text"]["text"].startswith(f"<{DASHBOARDS}/superset/dashboard/alerts/")
    assert all(len(block["text"]["text"]) <= 3000 for block in body["blocks"])


def test_slack_cuts_a_long_statement():
    _, _, body = built("slack", "https://hooks.example.com/secret", statements=["select " + "a, " * 5000])
    assert all(len(block["text"]["text"]) <= 3000 for block in body["blocks"])


def test_slack_has_buttons_whose_clicks_are_actions():
    service = HttpService("x", Selection(), "slack", "", Path("unused"), buttons=True)
    _, _, body = services.slack(due(), DASHBOARDS, service, "https://hooks.example.com/secret")
    buttons = body["blocks"][-1]["elements"]
    assert {each["action_id"] for each in buttons} == set(callback_tools.SLACK)
    assert {each["value"] for each in buttons} != {""} and body["blocks"][-1]["type"] == "actions"
    assert "actions" not in {block["type"] for block in built("slack", "https://x.example.com")[2]["blocks"]}


def test_teams_escapes_markdown():
    _, _, body = built("teams", "https://hooks.example.com/secret", entity={"user": HOSTILE})
    (attachment,) = body["attachments"]
    facts = {each["title"]: each["value"] for each in attachment["content"]["body"][1]["facts"]}
    assert "[x](http" not in facts["About"] and r"\[x\]\(http" in facts["About"]
    assert attachment["content"]["actions"][0]["url"].startswith(DASHBOARDS)


@pytest.mark.parametrize(
    ("level", "severity", "priority"),
    [
        ("critical", "critical", "P1"),
        ("high", "error", "P2"),
        ("medium", "warning", "P3"),
        ("low", "info", "P4"),
    ],
)
def test_an_incident_has_the_level_of_the_alert(level, severity, priority):
    assert built("pagerduty", level=level)[2]["payload"]["severity"] == severity
    assert built("opsgenie", level=level)[2]["priority"] == priority


def test_an_incident_is_opened_and_resolved_under_one_key():
    first = row()
    opened, resolved = Due(first, 1, 0), Due(first, 1, 0, is_closed=True)
    service = HttpService("x", Selection(), "pagerduty", "https://events.example.com/enqueue", Path("unused"))
    events = [services.pagerduty(each, DASHBOARDS, service, "key")[2] for each in (opened, resolved)]
    assert [event["event_action"] for event in events] == ["trigger", "resolve"]
    assert events[0]["dedup_key"] == events[1]["dedup_key"] == opened.id
    assert events[0]["routing_key"] == events[1]["routing_key"] == "key"


def test_opsgenie_closes_by_the_alias_with_which_it_created():
    first = row()
    service = HttpService("x", Selection(), "opsgenie", "https://api.example.com/v2/alerts", Path("unused"))
    url, headers, body = services.opsgenie(Due(first, 1, 0), DASHBOARDS, service, "key")
    close_url, _, _ = services.opsgenie(Due(first, 1, 0, is_closed=True), DASHBOARDS, service, "key")
    assert url == "https://api.example.com/v2/alerts" and headers["Authorization"] == "GenieKey key"
    assert close_url == f"{url}/{body['alias']}/close?identifierType=alias"
    assert len(body["message"]) <= 130


@contextmanager
def syslog_receiver(context: ssl.SSLContext | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """Accepts connections one by one, and stores what each has sent until its end."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                    with connection if context is None else context.wrap_socket(connection, True) as each:
                        received.append(b"".join(iter(lambda: each.recv(4096), b"")))
                except ssl.SSLError:
                    continue
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], received
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def channel(port: int, **options) -> Syslog:
    given = {"security": "none", "format": "cef", "timeout": LIMIT_SECONDS, **options}
    return Syslog("collector", Selection(), "127.0.0.1", port, **given)


def test_a_message_is_sent_with_its_length():
    with syslog_receiver() as (port, received):
        outcome = syslog.SyslogSender(channel(port), DASHBOARDS).send(due(user="müller"))
    assert outcome.outcome == DELIVERED, outcome
    length, _, text = received[0].partition(b" ")
    assert int(length) == len(text) and text.startswith(b"<83>1 ") and "müller".encode() in text


def test_an_unreachable_receiver_is_a_failure():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    assert syslog.SyslogSender(channel(port), DASHBOARDS).send(due()).outcome == FAILED


def test_the_certificate_of_a_receiver_is_verified(tmp_path):
    certificate, key = receivers.certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with syslog_receiver(context) as (port, received):
        untrusted = syslog.SyslogSender(channel(port, security="tls"), DASHBOARDS).send(due())
        trusted = channel(port, security="tls", ca_file=certificate)
        outcome = syslog.SyslogSender(trusted, DASHBOARDS).send(due())
    assert untrusted.outcome == FAILED and "certificate verify failed" in untrusted.detail
    assert outcome.outcome == DELIVERED, outcome
    assert len([each for each in received if b"<83>1 " in each]) == 1


UUID = "01234567-89ab-cdef-0123-456789abcdef"
CHANNELS = [
    {"name": "hook", "kind": "webhook", "url": "https://siem.example.com/hook", "secret_file": "secret"},
    *(
        {"name": kind, "kind": kind, "secret_file": "secret"}
        for kind in ("slack", "teams", "pagerduty", "opsgenie")
    ),
    {
        "name": "splunk",
        "kind": "splunk",
        "url": "https://splunk.example.com/services/collector/event",
        "secret_file": "secret",
        "format": "ocsf",
    },
    {
        "name": "jira",
        "kind": "jira",
        "url": "https://example.atlassian.net",
        "user": "tailrace@example.com",
        "secret_file": "secret",
        "project": "SEC",
    },
    {
        "name": "servicenow",
        "kind": "servicenow",
        "url": "https://example.service-now.com",
        "user": "tailrace",
        "secret_file": "secret",
    },
    {
        "name": "search",
        "kind": "elasticsearch",
        "url": "https://search.example.com:9200/",
        "index": "logs-tailrace.alerts-default",
        "secret_file": "secret",
    },
    {"name": "kafka", "kind": "kafka", "brokers": "kafka.example.com:9093", "topic": "mysql.alerts"},
    {"name": "s3", "kind": "s3", "bucket": "lake", "region": "eu-central-1", "account_id": 12 * "1"},
    {
        "name": "sentinel",
        "kind": "sentinel",
        "url": "https://x.ingest.monitor.azure.com",
        "rule": "dcr-" + 32 * "0",
        "stream": "Custom-Tailrace_CL",
        "tenant": UUID,
        "client_id": UUID,
        "secret_file": "secret",
    },
    {
        "name": "google",
        "kind": "google_secops",
        "customer_id": UUID,
        "log_type": "TAILRACE_CUSTOM",
        "secret_file": "secret",
    },
    {"name": "syslog", "kind": "syslog", "host": "syslog.example.com"},
    {
        "name": "mail",
        "kind": "email",
        "host": "mail.example.com",
        "from": "tailrace@example.com",
        "to": ["soc@example.com"],
    },
]


@pytest.fixture
def channels(tmp_path) -> list[config.Channel]:
    """A channel of each kind."""
    (tmp_path / "secret").write_text("the secret key")
    (tmp_path / "alerts.yaml").write_text(json.dumps({"channels": CHANNELS}))
    return list(config.load(tmp_path / "alerts.yaml").channels)


def test_a_trial_shows_every_kind_of_channel_without_secrets(channels):
    assert {each["kind"] for each in CHANNELS} == set(config.KINDS)
    shown = {channel.name: text for channel, text in trial.previews(channels, DASHBOARDS, trial.sample())}
    assert set(shown) == {each["name"] for each in CHANNELS}
    for name, text in shown.items():
        assert trial.TITLE in text and "test-db-1" in text, name
        assert "the secret key" not in text, name


@pytest.mark.parametrize("name", ["hook", "slack", "teams", "pagerduty", "opsgenie"])
def test_a_request_contains_the_secret_of_its_file(channels, name):
    (channel,) = [each for each in channels if each.name == name]
    (channel.secret_file).write_text("https://hooks.example.com/key\n")
    request = service.sender_of(channel, DASHBOARDS).request(trial.sample())
    sent = f"{request.full_url} {request.headers} {request.data.decode()}"
    assert "https://hooks.example.com/key" in sent or (name == "hook" and "sha256=" in sent)


def test_a_key_is_sent_encrypted_only(tmp_path):
    (tmp_path / "secret").write_text("the secret key")
    given = {"name": "x", "kind": "splunk", "url": "http://splunk.example.com/x", "secret_file": "secret"}
    (tmp_path / "alerts.yaml").write_text(json.dumps({"channels": [given]}))
    with pytest.raises(ConfigurationError, match="`url` must begin with https://"):
        config.load(tmp_path / "alerts.yaml")
