"""Posts one alert as JSON, signed so that the receiver can verify its origin and its age."""

import hashlib
import hmac
import json
import time
import urllib.request
from collections.abc import Callable

from tailrace.alerts.delivery import formats
from tailrace.alerts.delivery.config import Webhook
from tailrace.alerts.delivery.delivery_log import Due
from tailrace.alerts.delivery.http_sender import AGENT, HttpSender, secret, shown

TIMESTAMP, SIGNATURE, KEY = "Tailrace-Timestamp", "Tailrace-Signature", "Idempotency-Key"


class WebhookSender(HttpSender):
    """Makes one attempt at a time. `clock` returns seconds since 1970."""

    def __init__(self, webhook: Webhook, dashboards: str, clock: Callable[[], float] = time.time) -> None:
        super().__init__(webhook.timeout, webhook.ca_file)
        self._webhook = webhook
        self._dashboards = dashboards
        self._clock = clock

    def request(self, due: Due) -> urllib.request.Request:
        body = json.dumps(self._document(due), ensure_ascii=False).encode()
        timestamp = str(int(self._clock()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": AGENT,
            KEY: due.idempotency_key,
            TIMESTAMP: timestamp,
            SIGNATURE: signature(secret(self._webhook.secret_file), timestamp, body),
        }
        if self._webhook.token_file:
            headers["Authorization"] = f"Bearer {secret(self._webhook.token_file).decode()}"
        return urllib.request.Request(self._webhook.url, body, headers, method="POST")

    def preview(self, due: Due) -> str:
        return shown(self._webhook.url, self._document(due))

    def _document(self, due: Due) -> object:
        return formats.DOCUMENTS[self._webhook.format](due.alert, self._dashboards)


def signature(key: bytes, timestamp: str, body: bytes) -> str:
    """Returns `sha256=` and the HMAC-SHA256 in hexadecimal digits over the timestamp, a dot and the body."""
    return "sha256=" + hmac.new(key, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
