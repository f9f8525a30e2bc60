"""Sends the name of the user with each query, and records each access to unmasked statements.

Superset queries ClickHouse as one ClickHouse user per audience. Therefore every query begins with a comment

    /* superset {"user": "ann", "dashboard": 3, "chart": 12} */

and has the same text as its setting log_comment. Queries of the user UNMASKED_READER are written to
tailrace.unmasked_looks first, by a ClickHouse user that can do nothing else. If that fails, the query is not
sent. If the number of rows cannot be recorded afterwards, the rows are not returned.

Superset's hook for queries, SQL_QUERY_MUTATOR, gets filter values that may differ from those of the charts,
gets some queries twice, and does not get the number of rows. Therefore this module is the driver of
Superset's engine, which every query passes (DB_CONNECTION_MUTATOR, see superset_config.py).

    SUPERSET_ACCESS_RECORDER_URL             ClickHouse's HTTP address, for the user `witness`
    SUPERSET_ACCESS_RECORDER_PASSWORD_FILE   file with the password of its user `witness`
"""

import copy
import json
import logging
import os
import time
import urllib.request
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clickhouse_connect import dbapi
from clickhouse_connect.dbapi.connection import Connection
from clickhouse_connect.driver.client import Client
from flask import has_request_context, request

from tailrace.clickhouse.client import AUTHORITIES, tls_context

DRIVER = "clickhousedb"
UNMASKED_READER = "reader_unmasked"
RECORDER = "witness"
NOBODY = "(nobody: Superset itself)"
TIMEOUT_SECONDS = 10
MODEL_SECONDS = 60
"""Seconds for which a server's version, time zone and settings are cached."""
MAX_MODELS = 64
OLD_VARIABLES = {
    "SUPERSET_WITNESS_URL": "SUPERSET_ACCESS_RECORDER_URL",
    "SUPERSET_WITNESS_PASSWORD_FILE": "SUPERSET_ACCESS_RECORDER_PASSWORD_FILE",
}
"""Variables that were renamed. Release 0.3.0 removes the old names."""


def recorder_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of the recorder of accesses under their new names.

    Logs a warning for an old name. Raises ValueError if a variable is given under both names.
    """
    found = {name: environment[name] for name in OLD_VARIABLES.values() if name in environment}
    for old, new in OLD_VARIABLES.items():
        if old not in environment:
            continue
        if new in environment:
            raise ValueError(f"{old} is the old name of {new}, and both are given: remove {old}")
        logging.getLogger(__name__).warning(
            "%s is now called %s; release 0.3.0 removes the old name", old, new
        )
        found[new] = environment[old]
    return found


_RECORDER = recorder_variables(os.environ)


def connection(uri, params, username, security_manager, source):
    """DB_CONNECTION_MUTATOR: returns the engine with a driver that adds the user's name to queries."""
    if uri.get_backend_name() != DRIVER:
        return uri, params
    asker = {"user": username or NOBODY, **_place()}
    driver = SimpleNamespace(**{**vars(dbapi), "connect": partial(AuditedConnection, asker)})
    return uri, {**params, "module": driver}


def comment(asker: Mapping[str, Any]) -> str:
    """Returns a comment that no user name can end: ASCII JSON without the special characters of SQL."""
    text = json.dumps(asker)
    for sign in "*/%;":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f"/* superset {text} */"


class AuditedConnection(Connection):
    """A connection that sends every query through `_ask`."""

    def __init__(self, asker: Mapping[str, Any], **arguments: Any) -> None:
        self.client = _client(arguments)
        self.timezone = self.client.server_tz
        self._asker = asker
        self._user = arguments.get("username", "")
        self._query = self.client.query
        self.client.set_client_setting("log_comment", json.dumps(asker))
        self.client.query = self._ask

    def command(self, cmd: str) -> Any:
        raise dbapi.NotSupportedError("use a cursor for statements")

    def raw_query(self, query: str) -> Any:
        return self._ask(query)

    def _ask(self, query: str | None = None, *arguments: Any, **named: Any) -> Any:
        context = named.get("context")
        if context is not None and context.internal:  # a query of the driver itself, such as for the version
            return self._query(query, *arguments, **named)
        said = f"{comment(self._asker)} {query}"
        if self._user != UNMASKED_READER:
            return self._query(said, *arguments, **named)
        return self._recorded(query, lambda: self._query(said, *arguments, **named))

    def _recorded(self, statement: str, ask) -> Any:
        access = {
            "look_id": str(uuid.uuid4()),
            "superset_user": self._asker["user"],
            "dashboard": self._asker.get("dashboard", 0),
            "chart": self._asker.get("chart", 0),
            "clickhouse_user": self._user,
            "statement": statement,
        }
        _record({**access, "step": "asked"})
        answer = ask()
        _record({**access, "step": "shown", "rows": len(answer.result_set)})
        return answer


_models: dict[str, tuple[float, Client]] = {}


def _client(arguments: Mapping[str, Any]) -> Client:
    """Returns a new client for these arguments of a connection.

    A new client queries the server's version, time zone and settings, and Superset opens a connection for
    each query: two more requests. Therefore the client is a copy of one that is at most MODEL_SECONDS old.
    Copies share the address, the credentials and the pool of idle sockets only.
    """
    key = repr(sorted(arguments.items()))
    made, model = _models.get(key, (0.0, None))
    if model is None or time.monotonic() - made >= MODEL_SECONDS:
        model = Connection(**arguments).client
        if not _can_be_copied(model):
            return model
        if len(_models) >= MAX_MODELS:
            _models.clear()
        _models[key] = (time.monotonic(), model)
    return _copy(model)


def _can_be_copied(model: Client) -> bool:
    """Whether a client has the structure of clickhouse-connect 1.12.0 and a shared pool of sockets."""
    backend = getattr(model, "_backend", None)
    is_known = getattr(backend, "params", None) is model.params and hasattr(backend, "headers")
    return is_known and getattr(backend, "owns_pool_manager", True) is False


def _copy(model: Client) -> Client:
    """Returns a copy with its own settings and session; both are in `params`."""
    client = copy.copy(model)
    client._backend = copy.copy(model._backend)
    client._backend.headers = dict(model._backend.headers)
    session = {"session_id": str(uuid.uuid4())} if "session_id" in model.params else {}
    client.params = client._backend.params = {**model.params, **session}
    return client


def _record(access: Mapping[str, Any]) -> None:
    """Inserts the record. Raises OSError, KeyError or HTTPError: then nothing is sent or returned."""
    columns = ", ".join(access)
    statement = f"INSERT INTO tailrace.unmasked_looks ({columns}) FORMAT JSONEachRow\n"
    password = Path(_RECORDER["SUPERSET_ACCESS_RECORDER_PASSWORD_FILE"]).read_text().strip()
    wanted = urllib.request.Request(
        _RECORDER["SUPERSET_ACCESS_RECORDER_URL"],
        (statement + json.dumps(access)).encode(),
        {"X-ClickHouse-User": RECORDER, "X-ClickHouse-Key": password},
    )
    context = tls_context(wanted.full_url, os.environ.get(AUTHORITIES, ""))
    with urllib.request.urlopen(wanted, timeout=TIMEOUT_SECONDS, context=context) as answer:
        answer.read()


def _place() -> dict[str, int]:
    """Returns the ids of dashboard and chart from the browser's request, if they are whole numbers."""
    content = request.get_json(silent=True) if has_request_context() else None
    said = content.get("form_data") if isinstance(content, dict) else None
    if not isinstance(said, dict):
        return {}
    numbers = {"dashboard": said.get("dashboardId"), "chart": said.get("slice_id")}
    return {name: number for name, number in numbers.items() if isinstance(number, int) and number >= 0}
