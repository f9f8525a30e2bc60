"""Splunk's HTTP Event Collector, with or without indexer acknowledgement.

Without it the collector answers before it has stored anything. With it a request is delivered when
`/services/collector/ack` says that its events are indexed. Each object is a channel with a GUID of its own.
All requests of a batch are sent before the first query, and each query asks for all that are not indexed
yet, so that a batch takes the time of one acknowledgement. What is not acknowledged in time is sent again
with the same ids; Splunk does not compare them."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence

from tailrace.outputs.config import Splunk
from tailrace.outputs.http import Answer, HttpClient, HttpReceiver, compressed, encode, secret, shown
from tailrace.outputs.record import DELIVERED, FAILED, Outcome, Record, all_of

CHANNEL = "X-Splunk-Request-Channel"
POLL_SECONDS = (0.2, 2.0)
"""The first and the longest pause between two queries for an acknowledgement."""
NO_ACK = "no ackId: enable indexer acknowledgement for the token, or remove `indexer_ack`"
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
        self._waiting: dict[str, Outcome] = {}
        """The outcome of each request that is not indexed yet, by its ackId."""

    def send(self, records: Sequence[Record]) -> list[Outcome]:
        self._waiting = {}
        outcomes = super().send(records)
        if not self._waiting:
            return outcomes
        try:
            settled = self._settled()
        except (OSError, ValueError):  # the file with the token, or an ackId that is no number
            settled = {}
        return [settled.get(id(outcome), outcome) for outcome in outcomes]

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
        return self._client.post(self._to.url, wrapped, body)

    def outcomes(self, answer: Answer, records: Sequence[Record]) -> list[Outcome]:
        if answer.status != 200 or not self._to.has_ack:
            return super().outcomes(answer, records)
        found = answer.json()
        ack_id = found.get("ackId") if isinstance(found, dict) else None
        if ack_id is None:
            return all_of(records, Outcome(FAILED, NO_ACK))
        outcome = Outcome(FAILED, f"no acknowledgement within {self._to.ack_timeout} s")
        self._waiting[str(ack_id)] = outcome
        return all_of(records, outcome)

    def _headers(self) -> Mapping[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Splunk {secret(self._to.secret_file)}",
        }
        return {**headers, CHANNEL: self._channel} if self._to.has_ack else headers

    def _settled(self) -> dict[int, Outcome]:
        """Waits until the events of all requests are indexed, or until the time is over; returns the final
        outcome of those that are, by the identity of the first one."""
        settled: dict[int, Outcome] = {}
        deadline = self._clock() + self._to.ack_timeout
        pause, longest = POLL_SECONDS
        while self._waiting and (left := deadline - self._clock()) > 0:
            for ack_id in self._indexed():
                outcome = Outcome(DELIVERED, f"indexed, ackId {ack_id}")
                settled[id(self._waiting.pop(ack_id))] = outcome
            if self._waiting:
                self._sleep(min(pause, left))
                pause = min(longest, 2 * pause)
        return settled

    def _indexed(self) -> list[str]:
        """Returns those of the waiting requests that are indexed."""
        query = encode({"acks": [int(ack_id) for ack_id in self._waiting]})
        state = self._client.post(f"{self._base()}/ack?channel={self._channel}", self._headers(), query)
        found = state.json()
        acks = found.get("acks") if state.status == 200 and isinstance(found, dict) else None
        if not isinstance(acks, dict):
            return []
        return [ack_id for ack_id in self._waiting if acks.get(ack_id)]

    def _base(self) -> str:
        return self._to.url.removesuffix("/event")

    def concerns_content(self, answer: Answer) -> bool:
        if answer.status != 400:
            return super().concerns_content(answer)
        found = answer.json()
        return isinstance(found, dict) and found.get("code") in BAD_EVENT

    def show(self, record: Record) -> str:
        return shown(self._to.url, self.text(record))
