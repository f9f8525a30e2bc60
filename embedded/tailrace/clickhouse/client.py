"""Accesses ClickHouse over HTTP with the standard library: statements, typed parameters, rows as dicts."""

import http.client
import json
import os
import shutil
import ssl
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from tailrace.errors import ReportedError

Row = dict[str, object]

AUTHORITIES = "TAILRACE_CLICKHOUSE_CA_FILE"
"""The environment variable with a PEM file of the authorities that sign ClickHouse's certificate."""

_SETTINGS_OF_ROWS = {
    "default_format": "JSONEachRow",
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_quote_64bit_floats": 0,
    "wait_end_of_query": 1,
    "buffer_size": 1 << 20,  # small results then need no disk, which may be full
}


class ClickHouseError(ReportedError):
    """ClickHouse refused a statement; `code` is its error code, the message the first line of its
    response."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class ClickHouse:
    """One user's access to one server. Every method raises OSError if the server cannot be reached."""

    url: str
    """Such as `http://127.0.0.1:18123`."""
    user: str = "default"
    password: str = field(default="", repr=False)
    authorities: str = field(default_factory=lambda: os.environ.get(AUTHORITIES, ""))
    """A PEM file of the authorities of an `https://` address; empty for those that the machine trusts."""

    def execute(
        self,
        statement: str,
        parameters: Mapping[str, object] | None = None,
        timeout: float = 300,
        **settings: object,
    ) -> str:
        """Runs one statement and returns its output. `parameters` fill `{name:Type}`; timeout in seconds."""
        return self._post(statement.encode(), _query_string(parameters, settings), timeout)[0]

    def rows(
        self,
        statement: str,
        parameters: Mapping[str, object] | None = None,
        timeout: float = 300,
        **settings: object,
    ) -> list[Row]:
        """Runs one SELECT without a FORMAT clause. Strings that are not UTF-8 are returned with \\x
        escapes."""
        query = _query_string(parameters, {**_SETTINGS_OF_ROWS, **settings})
        text, headers = self._post(statement.encode(), query, timeout)
        # Not splitlines(): names in rows may contain U+0085 and the like, which it treats as line ends.
        lines = [line for line in text.split("\n") if line]
        if len(lines) != (counted := _result_rows(headers)):
            # The HTTP status is 200: a full disk truncates the buffered result.
            raise ConnectionError(f"{self.url} sent {len(lines)} of {counted} rows; is its disk full?")
        return [json.loads(line) for line in lines]

    def copy(
        self,
        statement: str,
        to: BinaryIO,
        parameters: Mapping[str, object] | None = None,
        timeout: float = 1800,
    ) -> int:
        """Writes the result of one SELECT with a FORMAT clause to a file; returns the number of rows.

        ClickHouse buffers the complete result on its disk before it responds, so an error is reported as an
        error. If that disk is full, the result is truncated with a good status: compare the returned number
        of rows, which ClickHouse counted, with the file. Memory stays small on both sides. Also raises
        OSError if the file cannot be written.
        """
        query = _query_string(parameters, {"wait_end_of_query": 1})
        request = urllib.request.Request(
            f"{self.url}/?{query}", statement.encode(), headers=self.credentials()
        )
        return self._copy(request, to, timeout)

    def converted(self, csv: bytes, columns: Mapping[str, str], form: str, to: BinaryIO) -> int:
        """Writes the rows of a CSV with a header in another format, in their order; returns their number.

        `columns` are names and ClickHouse types in the order of the CSV. Both sides hold the rows in memory.
        Raises what `copy` raises.
        """
        settings = {
            "query": f"SELECT * FROM given FORMAT {form}",
            "given_format": "CSVWithNames",
            "given_structure": ", ".join(f"`{name}` {its_type}" for name, its_type in columns.items()),
            "wait_end_of_query": 1,
            "max_threads": 1,
        }
        boundary = uuid.uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="given"; filename="given"\r\n\r\n'
        body = head.encode() + csv + f"\r\n--{boundary}--\r\n".encode()
        content = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        url = f"{self.url}/?{_query_string(None, settings)}"
        return self._copy(urllib.request.Request(url, body, headers=self.credentials() | content), to, 300)

    def _copy(self, request: urllib.request.Request, to: BinaryIO, timeout: float) -> int:
        try:
            with self._open(request, timeout) as response:
                shutil.copyfileobj(response, to, 1 << 20)
                return _result_rows(response.headers)
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except http.client.HTTPException as error:
            raise ConnectionError(f"{self.url} closed the connection early: {error!r}") from error

    def insert(self, table: str, rows: Iterable[Mapping[str, object]], **settings: object) -> None:
        """Inserts rows given as columns by name; values are numbers, booleans, strings, lists and maps."""
        query = _query_string(None, {"query": f"INSERT INTO {table} FORMAT JSONEachRow", **settings})
        self._post("\n".join(map(json.dumps, rows)).encode(), query, timeout=300)

    def append(self, table: str, rows: Iterable[Mapping[str, object]], token: str = "") -> None:
        """Inserts rows of a record of actions: equal rows of two calls are both kept.

        `insert` is for rows that may be sent again: ClickHouse compares what is sent, without the time that a
        DEFAULT adds, and drops a repetition. `token`: one of `new_token`, for a call that is repeated if its
        answer is lost. ClickHouse drops the rows of a call whose token it knows.
        """
        self.insert(table, rows, insert_deduplication_token=token or new_token())

    def _post(self, body: bytes, query: str, timeout: float) -> tuple[str, Mapping[str, str]]:
        """Returns the body of the response and its headers."""
        request = urllib.request.Request(f"{self.url}/?{query}", body, headers=self.credentials())
        try:
            with self._open(request, timeout) as response:
                return response.read().decode(errors="backslashreplace"), response.headers
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except http.client.HTTPException as error:
            raise ConnectionError(f"{self.url} closed the connection early: {error!r}") from error

    def _open(self, request: urllib.request.Request, timeout: float) -> http.client.HTTPResponse:
        return urllib.request.urlopen(
            request, timeout=timeout, context=tls_context(self.url, self.authorities)
        )

    def credentials(self) -> dict[str, str]:
        """Returns the headers that authenticate the user."""
        return {"X-ClickHouse-User": self.user, "X-ClickHouse-Key": self.password}


def new_token() -> str:
    """Returns a deduplication token that no other insert has."""
    return uuid.uuid4().hex


def tls_context(url: str, authorities: str = "") -> ssl.SSLContext | None:
    """Returns what verifies the certificate of an `https://` address, and None for other addresses.

    `authorities`: a PEM file, which may be replaced while the process runs; empty for those that the machine
    trusts. Raises OSError if the file cannot be read.
    """
    if not url.startswith("https:"):
        return None
    return ssl.create_default_context(cafile=authorities or None)


def _result_rows(headers: Mapping[str, str]) -> int:
    """Returns the number of rows of a result, as ClickHouse counted them."""
    return int(json.loads(headers["X-ClickHouse-Summary"])["result_rows"])


def _query_string(parameters: Mapping[str, object] | None, settings: Mapping[str, object]) -> str:
    given = {f"param_{name}": value for name, value in (parameters or {}).items()}
    return urllib.parse.urlencode({**given, **settings})


def _refusal(error: urllib.error.HTTPError) -> ClickHouseError:
    code = int(error.headers.get("X-ClickHouse-Exception-Code") or 0)
    text = error.read().decode(errors="backslashreplace").strip()
    return ClickHouseError(code, text.splitlines()[0] if text else f"HTTP status {error.code}")
