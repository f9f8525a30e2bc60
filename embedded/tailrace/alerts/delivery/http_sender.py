"""One attempt over HTTP: the common part of webhooks and of services with their own format of messages."""

import http.client
import json
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from tailrace import __version__
from tailrace.alerts.delivery.delivery_log import Due
from tailrace.outputs.backoff import wished_seconds
from tailrace.outputs.guarded_http import opener_for
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Outcome

AGENT = f"tailrace/{__version__}"
TRIED_AGAIN = (408, 429)
"""Statuses 4xx after which a retry can succeed: a timeout, and too many requests."""


class HttpSender(ABC):
    """Makes one attempt at a time. `timeout` in seconds, for connecting and for each response."""

    def __init__(self, timeout: int, ca_file: Path | None) -> None:
        self._timeout = timeout
        self._ca_file = ca_file

    def send(self, due: Due) -> Outcome:
        """Posts the alert; raises nothing."""
        return outcome_of(lambda: self._post(due))

    def _post(self, due: Due) -> Outcome:
        request = self.request(due)
        if request.type not in ("http", "https"):  # urllib would open a file and report success
            return Outcome(FAILED, "the address must begin with https:// or http://")
        opener = opener_for(request.full_url, self._ca_file)
        with opener.open(request, timeout=self._timeout) as answer:
            return Outcome(DELIVERED, f"HTTP {answer.status}")

    @abstractmethod
    def request(self, due: Due) -> urllib.request.Request:
        """Returns the request of an attempt. Raises OSError for an unreadable secret, ValueError for an
        invalid one."""

    @abstractmethod
    def preview(self, due: Due) -> str:
        """Returns address and body of the request as text, without secrets."""


def outcome_of(attempt: Callable[[], Outcome]) -> Outcome:
    """Returns the outcome of an attempt over HTTP. Raises nothing that the attempt can raise by its peer."""
    try:
        return attempt()
    except urllib.error.HTTPError as error:
        error.close()
        return refusal(error.code, "", wished_seconds(error.headers, time.time()))
    except (OSError, http.client.HTTPException) as error:
        return Outcome(FAILED, str(getattr(error, "reason", "") or error or type(error).__name__))
    except ValueError:  # its message would quote the header or the address, and so a secret
        return Outcome(FAILED, "cannot build the request: a secret must be one line of ASCII")


def refusal(status: int, reason: str, retry_after: float | None = None) -> Outcome:
    """Returns the outcome of a response with an error status; `reason` is the receiver's own text."""
    detail = f"HTTP {status}: {reason}" if reason else f"HTTP {status}"
    return Outcome(FAILED, detail, retry_after) if _is_passing(status) else Outcome(REFUSED, detail)


def shown(url: str, body: object) -> str:
    """Returns the text of a request with a JSON body."""
    return f"POST {url}\n{json.dumps(body, ensure_ascii=False, indent=2)}"


def _is_passing(status: int) -> bool:
    return status >= 500 or status in TRIED_AGAIN


def secret(file: Path) -> bytes:
    """Returns the content of a file without surrounding white space; it is read again for every attempt."""
    return file.read_bytes().strip()
