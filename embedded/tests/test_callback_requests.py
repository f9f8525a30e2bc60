"""Requests of other tools: their signatures, their age, and the actions that they contain."""

import base64
import json
import urllib.parse
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path

import pytest

from e2e.callback_requests import NOW, SECRET, signed
from tailrace.alerts.callbacks import config, signatures, tools
from tailrace.alerts.callbacks.config import Source
from tailrace.alerts.callbacks.service import Answer, RequestLog
from tailrace.alerts.callbacks.signatures import UnauthenticatedError
from tailrace.alerts.callbacks.tools import Event, MalformedError, Requested
from tailrace.config.yaml_reader import ConfigurationError

GOLDEN = Path(__file__).with_name("golden") / "callbacks"
ID = "0123456789abcdef0123456789abcdef"


def source(kind: str, **options) -> Source:
    return Source("on-call", kind, Path("unused"), "on-call", config.MAX_AGE[kind], **options)


def verify(kind: str, headers: dict[str, str], body: bytes, now: float = NOW) -> None:
    signatures.verify(kind, [b"another", SECRET], headers, body, now, config.MAX_AGE[kind])


@pytest.mark.parametrize("kind", signatures.VERIFIERS)
def test_a_request_with_the_secret_is_accepted(kind):
    verify(kind, signed(kind, b"{}"), b"{}")


@pytest.mark.parametrize("kind", signatures.VERIFIERS)
def test_a_request_without_the_secret_is_refused(kind):
    for headers in ({}, signed(kind, b"{}", secret=b"guessed"), dict.fromkeys(signed(kind, b"{}"), "")):
        with pytest.raises(UnauthenticatedError):
            verify(kind, headers, b"{}")


@pytest.mark.parametrize("kind", [kind for kind in signatures.VERIFIERS if kind != "opsgenie"])
def test_a_changed_body_is_refused(kind):
    with pytest.raises(UnauthenticatedError, match="wrong signature"):
        verify(kind, signed(kind, b"{}"), b"{} ")


@pytest.mark.parametrize("kind", signatures.TIMESTAMPS)
def test_an_old_request_is_refused_and_its_time_cannot_be_changed(kind):
    headers = signed(kind, b"{}")
    verify(kind, headers, b"{}", NOW + 299)
    for now, reason in ((NOW + 301, "too old"), (NOW - 301, "from the future")):
        with pytest.raises(UnauthenticatedError, match=reason):
            verify(kind, headers, b"{}", now)
    with pytest.raises(UnauthenticatedError, match="wrong signature"):
        verify(kind, {**headers, signatures.TIMESTAMPS[kind]: f"{NOW + 301:.0f}"}, b"{}", NOW + 301)


def test_pagerduty_signs_with_old_and_new_secrets():
    both = [signatures.hexadecimal(secret, b"{}") for secret in (b"gone", SECRET)]
    verify("pagerduty", {"X-PagerDuty-Signature": f"v1={both[0]}, v1={both[1]}"}, b"{}")


def test_opsgenie_may_log_in_with_basic_authentication():
    login = base64.b64encode(b"opsgenie:" + SECRET).decode()
    verify("opsgenie", {"Authorization": f"Basic {login}"}, b"{}")
    for wrong in ("Basic ???", f"Basic {base64.b64encode(b'x:y').decode()}", "Digest x"):
        with pytest.raises(UnauthenticatedError):
            verify("opsgenie", {"Authorization": wrong}, b"{}")


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("kind", "name", "user", "at", "actions"),
    [
        (
            *("pagerduty", "acknowledged", "Ann Smith", seconds("2026-03-01T09:59:58")),
            [Requested(ID, "ack", "in PagerDuty, incident 2 https://acme.pagerduty.com/incidents/PGR0VU2")],
        ),
        (
            *("pagerduty", "reassigned", "Ann Smith", seconds("2026-03-01T09:59:58")),
            [
                Requested(
                    ID,
                    "assign",
                    "in PagerDuty, incident 2 https://acme.pagerduty.com/incidents/PGR0VU2",
                    "Bob",
                )
            ],
        ),
        ("pagerduty", "resolved_by_integration", "", seconds("2026-03-01T09:59:58"), []),
        (
            *("opsgenie", "closed", "ann@example.com", seconds("2026-03-01T09:59:58.123")),
            [Requested(ID, "close", "planned dump")],
        ),
        ("opsgenie", "created", "System", seconds("2026-03-01T09:59:58.123"), []),
        (
            *("jira", "done", "Ann Smith", NOW - 2),
            [
                Requested(ID, "assign", "in Jira, issue SEC-12", "Bob"),
                Requested(ID, "close", "in Jira, issue SEC-12", verdict="false positive"),
            ],
        ),
        ("jira", "summary", "Ann Smith", NOW - 2, []),
        ("slack", "acknowledge", "ann", None, [Requested(ID, "ack", "in Slack")]),
        ("slack", "close", "ann", None, [Requested(ID, "close", "in Slack", verdict="false positive")]),
        (
            *("servicenow", "close", "Ann Smith", None),
            [Requested(ID, "close", "INC0000012 resolved", verdict="benign")],
        ),
    ],
)
def test_a_change_of_a_user_becomes_an_action(kind, name, user, at, actions):
    options = {"verdicts": {"Declined": "false positive"}} if kind == "jira" else {}
    event = tools.read(source(kind, **options), body_of(kind, name))
    assert (event.user, event.actions) == (user, actions)
    assert event.at == (None if at is None else pytest.approx(at, abs=1e-3))
    assert event.key and bool(event.ignored) is not bool(actions)


def body_of(kind: str, name: str) -> bytes:
    text = (GOLDEN / f"{kind}_{name}.json").read_text()
    return urllib.parse.urlencode({"payload": text}).encode() if kind == "slack" else text.encode()


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_an_incomplete_body_is_malformed_or_ignored(path):
    """Removes each key at any depth, one at a time: the result is an event or MalformedError."""
    kind, content = path.stem.partition("_")[0], json.loads(path.read_text())
    for text in shortened(content):
        body = urllib.parse.urlencode({"payload": text}).encode() if kind == "slack" else text.encode()
        try:
            assert isinstance(tools.read(source(kind), body), Event)
        except MalformedError:
            continue


def shortened(content: object) -> list[str]:
    found = [json.dumps(each) for each in (None, [], "x", 1)]
    places = [content]
    while places:
        place = places.pop()
        for key in [*place] if isinstance(place, dict) else range(len(place)):
            value = place[key]
            for other in (None, [], {}, "x", 7):
                place[key] = other
                found.append(json.dumps(content))
            place[key] = value
            if isinstance(value, dict | list):
                places.append(value)
    return found


def test_names_and_reasons_are_one_printable_line():
    assert tools.name("Ann\r\n\x1b[31m  Smith\u202e") == "Ann [31m Smith"
    assert tools.name(None) == tools.name(" \n") == tools.UNKNOWN_USER
    assert len(tools.name("a" * 1000)) == tools.MAX_NAME


def test_refusals_are_reported_at_most_once_a_minute():
    lines: list[str] = []
    now = [NOW]
    log = RequestLog(lines.append, lambda: now[0])
    refused = Answer(HTTPStatus.UNAUTHORIZED, "unauthenticated", "wrong signature")
    for second in range(130):
        now[0] = NOW + second
        log.note("on-call", refused, "192.0.2.1")
    assert lines[0] == "on-call: unauthenticated (401): wrong signature, from 192.0.2.1"
    assert lines[1].endswith(", 59 more since the last report") and len(lines) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "pager"}, "`kind` must be one of pagerduty, opsgenie, jira, servicenow, slack, webhook"),
        ({"secret_file": "gone"}, "`secret_file`: .* No such file or directory"),
        ({"max_age": "5"}, "`max_age` must be a span"),
        ({"verdicts": {"Done": "benign"}}, "unknown key 'verdicts'"),
        ({"kind": "jira", "verdicts": {"Done": "harmless"}}, "`verdicts` must be names of resolutions"),
    ],
)
def test_a_mistake_in_callbacks_yaml_is_reported_with_its_key(tmp_path, change, message):
    (tmp_path / "secret").write_text("x")
    content = {"sources": [{"name": "x", "kind": "slack", "secret_file": "secret", **change}]}
    (tmp_path / "callbacks.yaml").write_text(json.dumps(content))
    with pytest.raises(ConfigurationError, match=message):
        config.load(tmp_path / "callbacks.yaml")


def test_callbacks_are_received_on_this_machine_by_default(tmp_path):
    (tmp_path / "secret").write_text("x")
    file = tmp_path / "callbacks.yaml"
    content = {"sources": [{"name": "x", "kind": "slack", "secret_file": "secret"}]}
    file.write_text(json.dumps(content))
    assert config.load(file).bind == "127.0.0.1" and config.load(file).sources[0].channel == "x"
    file.write_text(json.dumps({**content, "bind": "everywhere"}))
    with pytest.raises(ConfigurationError, match="`bind` must be an IP address"):
        config.load(file)
