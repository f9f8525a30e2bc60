"""Requests with answers in JSON, for receivers that need several requests per alert."""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from tailrace.alerts.delivery.delivery_log import Outcome
from tailrace.alerts.delivery.http_sender import AGENT, opener_for, outcome_of, refusal, secret
from tailrace.outputs.backoff import wished_seconds

MAX_ANSWER = 4 << 20
"""Bytes that are read of an answer."""
MAX_REASON = 200


class RefusedError(Exception):
    """The receiver answered with an error status."""

    def __init__(self, status: int, reason: str, retry_after: float | None = None) -> None:
        super().__init__(f"HTTP {status}: {reason}")
        self.outcome = refusal(status, reason, retry_after)


class Rest:
    """The API of one site, with HTTP Basic authentication. `timeout` in seconds, for each request.

    Every method raises RefusedError for an error status and OSError if the site does not answer.
    """

    def __init__(self, url: str, user: str, secret_file: Path, timeout: int, ca_file: Path | None) -> None:
        self._url = url
        self._user = user
        self._secret_file = secret_file
        self._timeout = timeout
        self._opener = opener_for(url, ca_file)

    def get(self, path: str, **query: str) -> dict:
        return self.call("GET", f"{path}?{urllib.parse.urlencode(query)}" if query else path)

    def call(self, method: str, path: str, body: object = None) -> dict:
        """Returns the JSON object of the answer; an empty one if there is none."""
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        request = urllib.request.Request(self._url + path, content, self._headers(), method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return _parsed(answer.read(MAX_ANSWER))
        except urllib.error.HTTPError as error:
            with error:
                wished = wished_seconds(error.headers, time.time())
                raise RefusedError(error.code, _reason(error.read(MAX_ANSWER)), wished) from None

    def _headers(self) -> dict[str, str]:
        login = f"{self._user}:".encode() + secret(self._secret_file)
        return {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": AGENT,
            "Authorization": f"Basic {base64.b64encode(login).decode()}",
        }


def attempt(deliver: Callable[[], Outcome]) -> Outcome:
    """Returns the outcome of several requests; a refusal or a failure of one ends the attempt."""

    def tried() -> Outcome:
        try:
            return deliver()
        except RefusedError as error:
            return error.outcome

    return outcome_of(tried)


def _parsed(content: bytes) -> dict:
    """Parses an answer. Raises OSError if it is no JSON object: a proxy or a login page answered."""
    try:
        found = json.loads(content) if content.strip() else {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise OSError("the answer is not a JSON object")
    return found


def _reason(content: bytes) -> str:
    """Returns the messages of an error of Jira or ServiceNow in one line."""
    try:
        found = json.loads(content)
    except ValueError:
        return ""
    if not isinstance(found, dict):
        return ""
    given = found.get("error")
    messages = [given.get("message")] if isinstance(given, dict) else [*(found.get("errorMessages") or [])]
    errors = found.get("errors")
    if isinstance(errors, dict):
        messages += [f"{name}: {text}" for name, text in errors.items()]
    return " ".join("; ".join(str(each) for each in messages if each).split())[:MAX_REASON]
