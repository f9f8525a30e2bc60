"""Google SecOps: the Ingestion API. Records in UDM are UDM events, all others unstructured log entries."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from tailrace.outputs.config import GoogleSecOps
from tailrace.outputs.http import Answer, HttpClient, HttpReceiver, encode, shown
from tailrace.outputs.oauth import GoogleTokens
from tailrace.outputs.record import Record

UDM = "udm"


class GoogleSecOpsReceiver(HttpReceiver):
    """Delivers to one customer instance. All records of a batch have the same format."""

    max_bytes = 900_000
    """The service accepts 1 MB, with what surrounds the entries."""

    def __init__(self, to: GoogleSecOps) -> None:
        self._to = to
        self._client = HttpClient(to.timeout, to.ca_file)
        self._tokens = GoogleTokens(to, self._client)
        self._is_udm = False

    def text(self, record: Record) -> bytes:
        self._is_udm = record.format == UDM
        if self._is_udm:
            return encode(record.document)
        at = datetime.fromtimestamp(record.millis / 1000, UTC).isoformat(timespec="milliseconds")
        return encode({"log_text": encode(record.document).decode(), "ts_rfc3339": at.replace("+00:00", "Z")})

    def post(self, texts: Sequence[bytes]) -> Answer:
        authorization = self._tokens.headers()
        if isinstance(authorization, Answer):
            return authorization
        answer = self._client.post(
            self._url(), {"Content-Type": "application/json", **authorization}, self._body(texts)
        )
        if answer.status == 401:
            self._tokens.forget()
        return answer

    def _url(self) -> str:
        kind = "udmevents" if self._is_udm else "unstructuredlogentries"
        return f"{self._to.url}/v2/{kind}:batchCreate"

    def _body(self, texts: Sequence[bytes]) -> bytes:
        given: Mapping[str, str] = {"customer_id": self._to.customer_id}
        if not self._is_udm:
            given = {**given, "log_type": self._to.log_type}
        name = "events" if self._is_udm else "entries"
        return b'%s,"%s":[%s]}' % (encode(given)[:-1], name.encode(), b",".join(texts))

    def show(self, record: Record) -> str:
        body = self._body([self.text(record)])
        return shown(self._url(), body)
