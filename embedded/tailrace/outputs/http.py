"""Batches over HTTP: what the receivers with a REST interface share.

A request is limited in bytes. If a receiver refuses the content of a request with several records, each
half is sent on its own, so that one bad record does not hold up the others."""

import gzip
import http.client
import http.cookiejar
import time
import urllib.error
import urllib.request
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tailrace import __version__
from tailrace.outputs import guarded_http
from tailrace.outputs.backoff import wished_seconds
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Outcome, Receiver, Record, all_of

AGENT = f"tailrace/{__version__}"
BAD_CONTENT = (400, 413, 422)
"""Statuses that concern the content of a request. All others concern access or the receiver's state."""
MAX_ANSWER_BYTES = 64 << 20
MAX_DETAIL = 300
INVALID_SECRET = "cannot build the request: a secret must be one line of ASCII"
encode = msgspec.json.Encoder(decimal_format="number").encode
"""Converts a value to JSON in UTF-8 without blanks."""
decode = msgspec.json.Decoder().decode


@dataclass(frozen=True)
class Answer:
    """The answer to a request. Status 0: none, and the body says why."""

    status: int
    body: bytes
    retry_after: float | None = None
    """The seconds of the header Retry-After; None without one."""

    @property
    def text(self) -> str:
        """The outcome in one line: status and the start of the body."""
        said = " ".join(self.body[: 2 * MAX_DETAIL].decode(errors="replace").split())[:MAX_DETAIL]
        if not self.status:
            return said
        return f"HTTP {self.status}{f': {said}' if said else ''}"

    def json(self) -> object:
        """Returns the content of the body, None if it is not JSON."""
        try:
            return decode(self.body)
        except msgspec.DecodeError:
            return None


class HttpClient:
    """Sends requests with verified certificates. Cookies are kept, because load balancers use them to send
    requests of one client to one server. `timeout` in seconds, for connecting and for each response."""

    def __init__(self, timeout: int, ca_file: Path | None) -> None:
        self._timeout = timeout
        self._ca_file = ca_file
        self._cookies = http.cookiejar.CookieJar()
        self._made: urllib.request.OpenerDirector | None = None

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Raises ValueError if the address or a header is invalid; its message may contain a secret."""
        request = urllib.request.Request(url, body, {"User-Agent": AGENT, **headers}, method="POST")
        try:
            with self._opener(url).open(request, timeout=self._timeout) as answer:
                return Answer(answer.status, answer.read(MAX_ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            with error:
                wished = wished_seconds(error.headers, time.time())
                return Answer(error.code, _body_of(error), wished)
        except (OSError, http.client.HTTPException) as error:
            self._made = None
            return Answer(0, str(getattr(error, "reason", "") or error or type(error).__name__).encode())

    def _opener(self, url: str) -> urllib.request.OpenerDirector:
        """Reading the certificate authorities takes 40 ms, so it is done once, and again after a failure."""
        if self._made is None:
            cookies = urllib.request.HTTPCookieProcessor(self._cookies)
            self._made = guarded_http.opener_for(url, self._ca_file, cookies)
        return self._made


def _body_of(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read(MAX_ANSWER_BYTES)
    except (OSError, http.client.HTTPException):
        return b""


class HttpReceiver(Receiver):
    """Sends each batch in requests of at most `max_bytes`, before compression."""

    max_bytes = 4 << 20

    def send(self, records: Sequence[Record]) -> list[Outcome]:
        try:
            return [outcome for part in self._parts(records) for outcome in self._deliver(*part)]
        except OSError as error:  # a file with a secret
            return all_of(records, Outcome(FAILED, str(error)))
        except ValueError:  # its message may quote a header or the address, and so a secret
            return all_of(records, Outcome(FAILED, INVALID_SECRET))

    def _parts(self, records: Sequence[Record]) -> Iterator[tuple[list[Record], list[bytes]]]:
        """Yields records with their texts, by requests."""
        taken: list[Record] = []
        texts: list[bytes] = []
        size = 0
        for record in records:
            text = self.text(record)
            if taken and size + len(text) > self.max_bytes:
                yield taken, texts
                taken, texts, size = [], [], 0
            taken.append(record)
            texts.append(text)
            size += len(text) + 1
        if taken:
            yield taken, texts

    def _deliver(self, records: list[Record], texts: list[bytes]) -> list[Outcome]:
        answer = self.post(texts)
        if not self.concerns_content(answer):
            return self.outcomes(answer, records)
        if len(records) == 1:
            return [Outcome(REFUSED, answer.text)]
        half = len(records) // 2
        return [*self._deliver(records[:half], texts[:half]), *self._deliver(records[half:], texts[half:])]

    def concerns_content(self, answer: Answer) -> bool:
        """Returns whether the receiver refuses a record of the request, whatever the time and the
        access."""
        return answer.status in BAD_CONTENT

    def outcomes(self, answer: Answer, records: Sequence[Record]) -> list[Outcome]:
        """Returns the outcome of each record of a request whose content was not refused."""
        if 200 <= answer.status < 300:
            return all_of(records, Outcome(DELIVERED, answer.text))
        return all_of(records, Outcome(FAILED, answer.text, answer.retry_after))

    @abstractmethod
    def text(self, record: Record) -> bytes:
        """Returns the part of the body for a record."""

    @abstractmethod
    def post(self, texts: Sequence[bytes]) -> Answer:
        """Sends one request. Raises OSError for an unreadable secret, ValueError for an invalid one."""


def secret(file: Path) -> str:
    """Returns the content of a file without surrounding white space; it is read again for every attempt.

    Raises OSError, and ValueError if it is not UTF-8.
    """
    return file.read_text().strip()


def compressed(
    body: bytes, headers: Mapping[str, str], is_compressed: bool
) -> tuple[bytes, Mapping[str, str]]:
    """Returns body and headers, compressed if wanted. Level 1: higher levels save little and cost much."""
    if not is_compressed:
        return body, headers
    return gzip.compress(body, 1, mtime=0), {**headers, "Content-Encoding": "gzip"}


def shown(url: str, body: bytes) -> str:
    """Returns the text of a request whose body consists of lines of JSON."""
    lines = (msgspec.json.format(line, indent=2).decode() for line in body.splitlines() if line)
    return "\n".join([f"POST {url}", *lines])
