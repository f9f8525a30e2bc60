"""Verifies that a request comes from the tool of a source, and is not older than allowed.

| kind | header | signed |
|---|---|---|
| pagerduty | X-PagerDuty-Signature: `v1=` HMAC-SHA256, several separated by commas | body |
| jira | X-Hub-Signature: `sha256=` HMAC-SHA256 | body |
| slack | X-Slack-Signature: `v0=` HMAC-SHA256; X-Slack-Request-Timestamp | `v0:`, timestamp, `:`, body |
| servicenow, webhook | Tailrace-Signature: `sha256=` HMAC-SHA256; Tailrace-Timestamp | timestamp, `.`, body |
| opsgenie | Authorization: `Bearer` or `Basic` with the secret as password | nothing: a token |
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence

FUTURE_SECONDS = 300
"""How far the clock of a tool may be ahead."""


class UnauthenticatedError(Exception):
    """The request does not come from the tool, or is too old; the message contains no secret."""


Headers = Mapping[str, str]
"""Header fields; names in any case."""


def verify(
    kind: str, secrets: Sequence[bytes], headers: Headers, body: bytes, now: float, max_age: int
) -> None:
    """Verifies a request by any of the secrets. `now` in seconds since 1970. Raises UnauthenticatedError."""
    VERIFIERS[kind](secrets, headers, body)
    if kind in TIMESTAMPS:
        check_age(_seconds(headers, TIMESTAMPS[kind]), now, max_age)


def check_age(at: float, now: float, max_age: int) -> None:
    """Raises UnauthenticatedError if the time is too old, or in the future."""
    if now - at > max_age:
        raise UnauthenticatedError("too old")
    if at - now > FUTURE_SECONDS:
        raise UnauthenticatedError("from the future")


def hexadecimal(secret: bytes, content: bytes) -> str:
    """Returns the HMAC-SHA256 in hexadecimal digits."""
    return hmac.new(secret, content, hashlib.sha256).hexdigest()


def _pagerduty(secrets: Sequence[bytes], headers: Headers, body: bytes) -> None:
    given = _header(headers, "X-PagerDuty-Signature").split(",")
    _require([f"v1={hexadecimal(secret, body)}" for secret in secrets], [each.strip() for each in given])


def _jira(secrets: Sequence[bytes], headers: Headers, body: bytes) -> None:
    expected = [f"sha256={hexadecimal(secret, body)}" for secret in secrets]
    _require(expected, [_header(headers, "X-Hub-Signature")])


def _slack(secrets: Sequence[bytes], headers: Headers, body: bytes) -> None:
    content = b"v0:%s:%s" % (_header(headers, TIMESTAMPS["slack"]).encode(), body)
    expected = [f"v0={hexadecimal(secret, content)}" for secret in secrets]
    _require(expected, [_header(headers, "X-Slack-Signature")])


def _own(secrets: Sequence[bytes], headers: Headers, body: bytes) -> None:
    content = b"%s.%s" % (_header(headers, TIMESTAMPS["webhook"]).encode(), body)
    expected = [f"sha256={hexadecimal(secret, content)}" for secret in secrets]
    _require(expected, [_header(headers, "Tailrace-Signature")])


def _opsgenie(secrets: Sequence[bytes], headers: Headers, body: bytes) -> None:
    scheme, _, given = _header(headers, "Authorization").partition(" ")
    _require([secret.decode(errors="replace") for secret in secrets], [_password(scheme, given.strip())])


def _password(scheme: str, given: str) -> str:
    if scheme.casefold() == "bearer":
        return given
    try:
        return base64.b64decode(given, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _require(expected: Sequence[str], given: Sequence[str]) -> None:
    """Compares in constant time, so that the duration of an answer reveals no part of a signature."""
    found = [hmac.compare_digest(one.encode(), each.encode()) for one in expected for each in given if each]
    if not any(found):
        raise UnauthenticatedError("wrong signature")


def _header(headers: Headers, name: str) -> str:
    value = headers.get(name)
    if not value:
        raise UnauthenticatedError(f"no header {name}")
    return value


def _seconds(headers: Headers, name: str) -> int:
    text = _header(headers, name)
    if not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise UnauthenticatedError(f"the header {name} is no time")
    return int(text)


VERIFIERS: Mapping[str, Callable[[Sequence[bytes], Headers, bytes], None]] = {
    "pagerduty": _pagerduty,
    "opsgenie": _opsgenie,
    "jira": _jira,
    "slack": _slack,
    "servicenow": _own,
    "webhook": _own,
}
TIMESTAMPS = {
    "slack": "X-Slack-Request-Timestamp",
    "servicenow": "Tailrace-Timestamp",
    "webhook": "Tailrace-Timestamp",
}
"""By kind: the header with the time of the request, which is signed. Other kinds have a time in the body."""
