"""Elasticsearch and OpenSearch: bulk requests that create each document once.

The id of a document is the id of the record, and the operation is `create`. A repeated record is a conflict
(409), which counts as delivered. In a data stream that holds within one backing index: after a rollover a
repeated record is a second document."""

import base64
from collections.abc import Mapping, Sequence

from tailrace.outputs.config import Elasticsearch
from tailrace.outputs.http import (
    MAX_DETAIL,
    Answer,
    HttpClient,
    HttpReceiver,
    compressed,
    encode,
    secret,
    shown,
)
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Outcome, Record, all_of

CONFLICT, TOO_MANY = 409, 429
HEADERS = {"Content-Type": "application/x-ndjson"}


class ElasticsearchReceiver(HttpReceiver):
    """Delivers to one index or data stream."""

    max_bytes = 8 << 20

    def __init__(self, to: Elasticsearch) -> None:
        self._to = to
        self._url = f"{to.url}/_bulk"
        self._client = HttpClient(to.timeout, to.ca_file)

    def text(self, record: Record) -> bytes:
        action = {"create": {"_index": self._to.index, "_id": record.id}}
        return b"%s\n%s\n" % (encode(action), encode(_with_timestamp(record)))

    def post(self, texts: Sequence[bytes]) -> Answer:
        body, headers = compressed(
            b"".join(texts), {**HEADERS, **self._authorization()}, self._to.is_compressed
        )
        return self._client.post(self._url, headers, body)

    def _authorization(self) -> Mapping[str, str]:
        if not self._to.secret_file:
            return {}
        key = secret(self._to.secret_file)
        if not self._to.user:
            return {"Authorization": f"ApiKey {key}"}
        return {"Authorization": f"Basic {base64.b64encode(f'{self._to.user}:{key}'.encode()).decode()}"}

    def outcomes(self, answer: Answer, records: Sequence[Record]) -> list[Outcome]:
        if not 200 <= answer.status < 300:
            return super().outcomes(answer, records)
        found = answer.json()
        items = found.get("items") if isinstance(found, dict) else None
        if not isinstance(items, list) or len(items) != len(records):
            return all_of(records, Outcome(FAILED, f"not the answer of a bulk request: {answer.text}"))
        return [_outcome(next(iter(item.values())), answer.retry_after) for item in items]

    def show(self, record: Record) -> str:
        return shown(self._url, self.text(record))


def _outcome(item: Mapping, retry_after: float | None) -> Outcome:
    """Returns the outcome of one document of a bulk request."""
    status = item["status"]
    if status == CONFLICT:
        return Outcome(DELIVERED, "HTTP 409: it was already stored")
    if 200 <= status < 300:
        return Outcome(DELIVERED, f"HTTP {status}")
    error = item.get("error") or {}
    detail = f"HTTP {status}: {error.get('type', '')}: {error.get('reason', '')}"[:MAX_DETAIL]
    is_of_document = 400 <= status < 500 and status not in (TOO_MANY, 401, 403, 404)
    return Outcome(REFUSED, detail) if is_of_document else Outcome(FAILED, detail, retry_after)


def _with_timestamp(record: Record) -> Mapping[str, object]:
    """Returns the document with the field that data streams require, in milliseconds if it has no other."""
    if "@timestamp" in record.document:
        return record.document
    return {"@timestamp": record.millis, **record.document}
