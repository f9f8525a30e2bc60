"""Microsoft Sentinel: the Logs Ingestion API of Azure Monitor, to a stream of a data collection rule.

A row has the columns TimeGenerated, RecordId, Kind, Host, Format and Record. The last one is dynamic and
contains the document."""

from collections.abc import Sequence
from datetime import UTC, datetime

from tailrace.outputs.config import Sentinel
from tailrace.outputs.http import Answer, HttpClient, HttpReceiver, compressed, encode, shown
from tailrace.outputs.oauth import EntraTokens
from tailrace.outputs.record import Record

VERSION = "2023-01-01"


class SentinelReceiver(HttpReceiver):
    """Delivers to one stream."""

    max_bytes = 1_000_000
    """The service accepts 1 MB, with the brackets and commas of the list."""

    def __init__(self, to: Sentinel) -> None:
        self._to = to
        self._url = f"{to.url}/dataCollectionRules/{to.rule}/streams/{to.stream}?api-version={VERSION}"
        self._client = HttpClient(to.timeout, to.ca_file)
        self._tokens = EntraTokens(to, self._client)

    def text(self, record: Record) -> bytes:
        row = {
            "TimeGenerated": datetime.fromtimestamp(record.millis / 1000, UTC).isoformat(
                timespec="milliseconds"
            ),
            "RecordId": record.id,
            "Kind": record.kind,
            "Host": record.host,
            "Format": record.format,
            "Record": record.document,
        }
        return encode(row)

    def post(self, texts: Sequence[bytes]) -> Answer:
        authorization = self._tokens.headers()
        if isinstance(authorization, Answer):
            return authorization
        headers = {"Content-Type": "application/json", **authorization}
        body, headers = compressed(b"[" + b",".join(texts) + b"]", headers, self._to.is_compressed)
        answer = self._client.post(self._url, headers, body)
        if answer.status == 401:
            self._tokens.forget()
        return answer

    def show(self, record: Record) -> str:
        return shown(self._url, b"[" + self.text(record) + b"]")
