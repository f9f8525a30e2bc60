"""One attempt over HTTP: the common part of webhooks and of services with their own format of messages."""

import http.client
import json
import ssl
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from pathlib import Path

from tailrace import __version__
from tailrace.alerts.delivery.delivery_log import Due
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Outcome

AGENT = f"tailrace/{__version__}"
TRIED_AGAIN = (408, 429)
"""Statuses 4xx that are worth a retry: a timeout, and too many requests."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: an alert goes only to the configured address."""

    def redirect_request(self, *_: object) -> None:
        return None


class HttpSender(ABC):
    """Makes one attempt at a time. `timeout` in seconds, for connecting and for each response."""

    def __init__(self, timeout: int, ca_file: Path | None) -> None:
        self._timeout = timeout
        self._ca_file = ca_file

    def send(self, due: Due) -> Outcome:
        """Posts the alert; raises nothing."""
        try:
            request = self.request(due)
            with self._opener().open(request, timeout=self._timeout) as answer:
                return Outcome(DELIVERED, f"HTTP {answer.status}")
        except urllib.error.HTTPError as error:
            error.close()
            return Outcome(FAILED if _is_passing(error.code) else REFUSED, f"HTTP {error.code}")
        except (OSError, http.client.HTTPException) as error:
            return Outcome(FAILED, str(getattr(error, "reason", "") or error or type(error).__name__))
        except ValueError:  # its message would quote the header or the address, and so a secret
            return Outcome(FAILED, "cannot build the request: a secret must be one line of ASCII")

    @abstractmethod
    def request(self, due: Due) -> urllib.request.Request:
        """Returns the request of an attempt. Raises OSError for an unreadable secret, ValueError for an
        invalid one."""

    @abstractmethod
    def preview(self, due: Due) -> str:
        """Returns address and body of the request as text, without secrets."""

    def _opener(self) -> urllib.request.OpenerDirector:
        trusted = ssl.create_default_context(cafile=self._ca_file)
        return urllib.request.build_opener(_NoRedirects, urllib.request.HTTPSHandler(context=trusted))


def shown(url: str, body: object) -> str:
    """Returns the text of a request with a JSON body."""
    return f"POST {url}\n{json.dumps(body, ensure_ascii=False, indent=2)}"


def _is_passing(status: int) -> bool:
    return status >= 500 or status in TRIED_AGAIN


def secret(file: Path) -> bytes:
    """Returns the content of a file without surrounding white space; it is read again for every attempt."""
    return file.read_bytes().strip()
