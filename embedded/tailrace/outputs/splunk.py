"""Splunk's HTTP Event Collector, with or without indexer acknowledgement.

Without it the collector answers before it has stored anything. With it a request is delivered when
`/services/collector/ack` says that its events are indexed. Each object is a channel with a GUID of its own.
What is not acknowledged in time is sent again with the same ids; Splunk does not compare them."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence

from tailrace.outputs.config import Splunk
from tailrace.outputs.http import Answer, HttpClient, HttpReceiver, compressed, encode, secret, shown
from tailrace.outputs.record import Record

CHANNEL = "X-Splunk-Request-Channel"
POLL_SECONDS = (0.2, 2.0)
"""The first and the longest pause between two queries for an acknowledgement."""
BAD_EVENT = (6, 12, 13, 15)
"""Codes of the collector that concern an event: invalid format, no event, blank event, indexed fields."""


class SplunkReceiver(HttpReceiver):
    """Delivers to one collector. `clock` and `sleep` in seconds."""

    def __init__(
        self,
        to: Splunk,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._to = to
        self._client = HttpClient(to.timeout, to.ca_file)
        self._channel = str(uuid.uuid4())
        self._clock = clock
        self._sleep = sleep

    def text(self, record: Record) -> bytes:
        event = {
            "time": record.millis / 1000,
            **({"host": record.host} if record.host else {}),
            "source": "tailrace",
            "sourcetype": f"tailrace:{record.kind}:{record.format}",
            **({"index": self._to.index} if self._to.index else {}),
            "event": record.document,
        }
        return encode(event)

    def post(self, texts: Sequence[bytes]) -> Answer:
        headers = self._headers()
        body, wrapped = compressed(b"\n".join(texts), headers, self._to.is_compressed)
        answer = self._client.post(self._to.url, wrapped, body)
        if answer.status != 200 or not self._to.has_ack:
            return answer
        return self._acknowledged(answer, headers)

    def _headers(self) -> Mapping[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Splunk {secret(self._to.secret_file)}",
        }
        return {**headers, CHANNEL: self._channel} if self._to.has_ack else headers

    def _acknowledged(self, answer: Answer, headers: Mapping[str, str]) -> Answer:
        """Waits until the events of a request are indexed; returns status 0 if they are not in time."""
        found = answer.json()
        ack_id = found.get("ackId") if isinstance(found, dict) else None
        if ack_id is None:
            return Answer(
                0, b"no ackId: enable indexer acknowledgement for the token, or remove `indexer_ack`"
            )
        query = encode({"acks": [ack_id]})
        deadline = self._clock() + self._to.ack_timeout
        pause, longest = POLL_SECONDS
        while (left := deadline - self._clock()) > 0:
            state = self._client.post(f"{self._base()}/ack?channel={self._channel}", headers, query)
            acks = state.json()
            if state.status == 200 and isinstance(acks, dict) and acks.get("acks", {}).get(str(ack_id)):
                return Answer(200, f"indexed, ackId {ack_id}".encode())
            self._sleep(min(pause, left))
            pause = min(longest, 2 * pause)
        return Answer(0, f"no acknowledgement within {self._to.ack_timeout} s".encode())

    def _base(self) -> str:
        return self._to.url.removesuffix("/event")

    def concerns_content(self, answer: Answer) -> bool:
        if answer.status != 400:
            return super().concerns_content(answer)
        found = answer.json()
        return isinstance(found, dict) and found.get("code") in BAD_EVENT

    def show(self, record: Record) -> str:
        return shown(self._to.url, self.text(record))
