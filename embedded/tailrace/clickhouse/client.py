"""ClickHouse over HTTP, with the standard library only: statements, typed parameters, rows as dicts."""

import http.client
import json
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from tailrace.errors import ReportedError

Row = dict[str, object]

_SETTINGS_OF_ROWS = {
    "default_format": "JSONEachRow",
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_quote_64bit_floats": 0,
    "wait_end_of_query": 1,
    "buffer_size": 1 << 20,  # so that small results need no disk, which may be full
}


class ClickHouseError(ReportedError):
    """ClickHouse refused a statement; `code` is its error code, the message its own first line."""

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

    def execute(
        self, statement: str, parameters: Mapping[str, object] | None = None, timeout: float = 300, **settings
    ) -> str:
        """Runs one statement, returns what it prints. `parameters` fill `{name:Type}`; timeout in seconds."""
        return self._post(statement.encode(), _query_string(parameters, settings), timeout)[0]

    def rows(
        self, statement: str, parameters: Mapping[str, object] | None = None, timeout: float = 300, **settings
    ) -> list[Row]:
        """Runs one SELECT that names no format. Strings that are not UTF-8 come with \\x escapes."""
        query = _query_string(parameters, {**_SETTINGS_OF_ROWS, **settings})
        text, headers = self._post(statement.encode(), query, timeout)
        # Not splitlines(): names in rows may hold U+0085 and the like, which it takes for ends of lines.
        lines = [line for line in text.split("\n") if line]
        if len(lines) != (counted := _result_rows(headers)):
            # With a good status: what ClickHouse keeps on its disk is cut there when the disk is full.
            raise ConnectionError(f"{self.url} sent {len(lines)} of {counted} rows; is its disk full?")
        return [json.loads(line) for line in lines]

    def copy(
        self,
        statement: str,
        to: BinaryIO,
        parameters: Mapping[str, object] | None = None,
        timeout: float = 1800,
    ) -> int:
        """Writes what one SELECT prints, in the format that it names, to a file; returns the number of rows.

        ClickHouse answers when it has the whole result, which it keeps on its disk: an error is an error. But
        when that disk is full the result is cut with a good status: compare the rows, which are ClickHouse's
        own count, with the file. Memory stays small on both sides. Also raises OSError where the file cannot
        be written.
        """
        query = _query_string(parameters, {"wait_end_of_query": 1})
        request = urllib.request.Request(
            f"{self.url}/?{query}", statement.encode(), headers=self.credentials()
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                shutil.copyfileobj(response, to, 1 << 20)
                return _result_rows(response.headers)
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except http.client.HTTPException as error:
            raise ConnectionError(f"{self.url} broke off its answer: {error!r}") from error

    def insert(self, table: str, rows: Iterable[Mapping[str, object]], **settings) -> None:
        """Inserts rows, columns by name; values are numbers, booleans, strings, lists and maps."""
        query = _query_string(None, {"query": f"INSERT INTO {table} FORMAT JSONEachRow", **settings})
        self._post("\n".join(map(json.dumps, rows)).encode(), query, timeout=300)

    def _post(self, body: bytes, query: str, timeout: float) -> tuple[str, Mapping[str, str]]:
        """The answer and its headers."""
        request = urllib.request.Request(f"{self.url}/?{query}", body, headers=self.credentials())
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return response.read().decode(errors="backslashreplace"), response.headers
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except http.client.HTTPException as error:
            raise ConnectionError(f"{self.url} broke off its answer: {error!r}") from error

    def credentials(self) -> dict[str, str]:
        """The headers that say who asks."""
        return {"X-ClickHouse-User": self.user, "X-ClickHouse-Key": self.password}


def _result_rows(headers: Mapping[str, str]) -> int:
    """How many rows an answer should have, as ClickHouse counted them."""
    return int(json.loads(headers["X-ClickHouse-Summary"])["result_rows"])


def _query_string(parameters: Mapping[str, object] | None, settings: Mapping[str, object]) -> str:
    given = {f"param_{name}": value for name, value in (parameters or {}).items()}
    return urllib.parse.urlencode({**given, **settings})


def _refusal(error: urllib.error.HTTPError) -> ClickHouseError:
    code = int(error.headers.get("X-ClickHouse-Exception-Code") or 0)
    text = error.read().decode(errors="backslashreplace").strip()
    return ClickHouseError(code, text.splitlines()[0] if text else f"HTTP status {error.code}")
