"""Tells ClickHouse which person asks, and records each look at unmasked statements before it is answered.

Superset asks ClickHouse as one user per audience. Every statement therefore begins with a comment

    /* superset {"user": "ann", "dashboard": 3, "chart": 12} */

and has the same as its setting log_comment. Statements that are asked as UNMASKED_READER are written to
tailrace.unmasked_looks first, by an account that can do nothing else: a look that cannot be recorded is not
asked, and rows whose number cannot be recorded are not shown.

Superset's own hook for statements, SQL_QUERY_MUTATOR, sees the values of filters at another time than charts,
some statements twice, and cannot tell how many rows came. So this stands where every statement passes: it is
the driver that Superset's engine is made with (DB_CONNECTION_MUTATOR, see superset_config.py).

    SUPERSET_WITNESS_URL             ClickHouse's HTTP address, as the witness sees it
    SUPERSET_WITNESS_PASSWORD_FILE   file with the password of its user `witness`
"""

import json
import os
import urllib.request
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clickhouse_connect import dbapi
from clickhouse_connect.dbapi.connection import Connection
from flask import has_request_context, request

DRIVER = "clickhousedb"
UNMASKED_READER = "reader_unmasked"
WITNESS = "witness"
NOBODY = "(nobody: Superset itself)"
TIMEOUT_SECONDS = 10


def connection(uri, params, username, security_manager, source):
    """DB_CONNECTION_MUTATOR: the same engine, whose statements say who asks."""
    if uri.get_backend_name() != DRIVER:
        return uri, params
    asker = {"user": username or NOBODY, **_place()}
    driver = SimpleNamespace(**{**vars(dbapi), "connect": partial(AskingConnection, asker)})
    return uri, {**params, "module": driver}


def comment(asker: Mapping[str, Any]) -> str:
    """A comment that no name can end: JSON in ASCII, what means something to SQL or the driver escaped."""
    text = json.dumps(asker)
    for sign in "*/%;":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f"/* superset {text} */"


class AskingConnection(Connection):
    """A connection all of whose statements pass `_ask`."""

    def __init__(self, asker: Mapping[str, Any], **arguments: Any) -> None:
        super().__init__(**arguments)
        self._asker = asker
        self._user = arguments.get("username", "")
        self._query = self.client.query
        self.client.set_client_setting("log_comment", json.dumps(asker))
        self.client.query = self._ask

    def command(self, cmd: str) -> Any:
        raise dbapi.NotSupportedError("statements are asked through a cursor")

    def raw_query(self, query: str) -> Any:
        return self._ask(query)

    def _ask(self, query: str | None = None, *arguments: Any, **named: Any) -> Any:
        context = named.get("context")
        if context is not None and context.internal:  # the driver asks for the server's version and the like
            return self._query(query, *arguments, **named)
        said = f"{comment(self._asker)} {query}"
        if self._user != UNMASKED_READER:
            return self._query(said, *arguments, **named)
        return self._witnessed(query, lambda: self._query(said, *arguments, **named))

    def _witnessed(self, statement: str, ask) -> Any:
        look = {
            "look_id": str(uuid.uuid4()),
            "superset_user": self._asker["user"],
            "dashboard": self._asker.get("dashboard", 0),
            "chart": self._asker.get("chart", 0),
            "clickhouse_user": self._user,
            "statement": statement,
        }
        _record({**look, "step": "asked"})
        answer = ask()
        _record({**look, "step": "shown", "rows": len(answer.result_set)})
        return answer


def _record(look: Mapping[str, Any]) -> None:
    """Raises OSError, KeyError or urllib's HTTPError: then nothing is asked or shown."""
    columns = ", ".join(look)
    statement = f"INSERT INTO tailrace.unmasked_looks ({columns}) FORMAT JSONEachRow\n"
    password = Path(os.environ["SUPERSET_WITNESS_PASSWORD_FILE"]).read_text().strip()
    wanted = urllib.request.Request(
        os.environ["SUPERSET_WITNESS_URL"],
        (statement + json.dumps(look)).encode(),
        {"X-ClickHouse-User": WITNESS, "X-ClickHouse-Key": password},
    )
    with urllib.request.urlopen(wanted, timeout=TIMEOUT_SECONDS) as answer:
        answer.read()


def _place() -> dict[str, int]:
    """On which dashboard and for which chart, as the browser says; whole numbers or nothing."""
    content = request.get_json(silent=True) if has_request_context() else None
    said = content.get("form_data") if isinstance(content, dict) else None
    if not isinstance(said, dict):
        return {}
    numbers = {"dashboard": said.get("dashboardId"), "chart": said.get("slice_id")}
    return {name: number for name, number in numbers.items() if isinstance(number, int) and number >= 0}
