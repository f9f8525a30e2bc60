"""A small client for ClickHouse's HTTP interface: what migrations, the books and commands need, no more."""

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from tailrace.home import Home
from tailrace.settings import Settings

TIMEOUT_SECONDS = 120


class ClickHouseError(RuntimeError):
    """A statement was refused. `code` is ClickHouse's own, such as 60 for an unknown table; 0 if unknown."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class UnreachableError(OSError):
    """Nobody answers at the address."""


class Client:
    """One user at one server. Statements may hold `{name:Type}` parameters."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self.url = url
        self._headers = {"X-ClickHouse-User": user, "X-ClickHouse-Key": password}

    def execute(
        self,
        statement: str,
        parameters: Mapping[str, object] | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> str:
        """Runs one statement; returns its output as text. Raises ClickHouseError, UnreachableError."""
        given = {f"param_{name}": str(value) for name, value in (parameters or {}).items()}
        # Without this an error after the first rows would come as a part of a good answer.
        options = {"wait_end_of_query": "1", **{k: str(v) for k, v in (settings or {}).items()}, **given}
        request = urllib.request.Request(
            f"{self.url}/?{urllib.parse.urlencode(options)}", statement.encode(), self._headers
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise _refusal(error.read().decode(errors="replace")) from None
        except urllib.error.URLError as error:
            raise UnreachableError(f"ClickHouse does not answer at {self.url}: {error.reason}") from None

    def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        """The rows of a SELECT (without FORMAT); 64-bit integers come as int."""
        settings = {"default_format": "JSONEachRow", "output_format_json_quote_64bit_integers": 0}
        return [json.loads(line) for line in self.execute(query, parameters, settings).splitlines()]

    def value(self, query: str, parameters: Mapping[str, object] | None = None) -> Any:
        """The first column of the only row."""
        (row,) = self.rows(query, parameters)
        return next(iter(row.values()))


def password_name(user: str) -> str:
    """The name in Home.secret of a ClickHouse user's password, such as `clickhouse-reader_developer`."""
    return f"clickhouse-{user}"


def client(settings: Settings, home: Home, user: str) -> Client:
    """This installation's ClickHouse as one of the users of sql/users/users.xml.template."""
    return Client(f"http://127.0.0.1:{settings.port_clickhouse}", user, home.secret(password_name(user)))


def _refusal(text: str) -> ClickHouseError:
    code = re.match(r"Code: (\d+)", text)
    return ClickHouseError(int(code[1]) if code else 0, text.strip())
