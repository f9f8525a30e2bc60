"""Posts one alert as JSON, signed so that the receiver can verify its origin and its age."""

import hashlib
import hmac
import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from tailrace import __version__
from tailrace.alerts.delivery import ecs
from tailrace.alerts.delivery.config import Webhook
from tailrace.alerts.delivery.delivery_log import DELIVERED, FAILED, REFUSED, Due, Outcome

TIMESTAMP, SIGNATURE, KEY = "Tailrace-Timestamp", "Tailrace-Signature", "Idempotency-Key"
TRIED_AGAIN = (408, 429)
"""Statuses 4xx that are worth a retry: a timeout, and too many requests."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: an alert goes only to the configured address."""

    def redirect_request(self, *_: object) -> None:
        return None


class WebhookSender:
    """Makes one attempt at a time. `clock` returns seconds since 1970."""

    def __init__(self, webhook: Webhook, dashboards: str, clock: Callable[[], float] = time.time) -> None:
        self._webhook = webhook
        self._dashboards = dashboards
        self._clock = clock

    def send(self, due: Due) -> Outcome:
        """Posts the alert; raises nothing."""
        try:
            request = self._request(due)
            with self._opener().open(request, timeout=self._webhook.timeout) as answer:
                return Outcome(DELIVERED, f"HTTP {answer.status}")
        except urllib.error.HTTPError as error:
            error.close()
            return Outcome(FAILED if _is_passing(error.code) else REFUSED, f"HTTP {error.code}")
        except (OSError, http.client.HTTPException) as error:
            return Outcome(FAILED, str(getattr(error, "reason", "") or error or type(error).__name__))
        except ValueError:  # its message would quote the header, and so the token
            return Outcome(FAILED, "cannot build the request: the token must be one line of ASCII")

    def _request(self, due: Due) -> urllib.request.Request:
        body = json.dumps(ecs.document(due.alert, self._dashboards), ensure_ascii=False).encode()
        timestamp = str(int(self._clock()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"tailrace/{__version__}",
            KEY: due.idempotency_key,
            TIMESTAMP: timestamp,
            SIGNATURE: signature(_secret(self._webhook.secret_file), timestamp, body),
        }
        if self._webhook.token_file:
            headers["Authorization"] = f"Bearer {_secret(self._webhook.token_file).decode()}"
        return urllib.request.Request(self._webhook.url, body, headers, method="POST")

    def _opener(self) -> urllib.request.OpenerDirector:
        trusted = ssl.create_default_context(cafile=self._webhook.ca_file)
        return urllib.request.build_opener(_NoRedirects, urllib.request.HTTPSHandler(context=trusted))


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """Returns `sha256=` and the HMAC-SHA256 in hexadecimal digits over the timestamp, a dot and the body."""
    return "sha256=" + hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _is_passing(status: int) -> bool:
    return status >= 500 or status in TRIED_AGAIN


def _secret(file: Path) -> bytes:
    return file.read_bytes().strip()
