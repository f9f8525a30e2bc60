"""Tells ClickHouse which person asks, and records each access to unmasked statements before it is answered.

Superset asks ClickHouse as one user per audience. Every statement therefore begins with a comment

    /* superset {"user": "ann", "dashboard": 3, "chart": 12} */

and has the same as its setting log_comment. Statements that are asked as UNMASKED_READER are written to
tailrace.unmasked_looks first, by an account that can do nothing else: an access that cannot be recorded is
not asked, and rows whose number cannot be recorded are not shown.

Superset's own hook for statements, SQL_QUERY_MUTATOR, sees the values of filters at another time than charts,
some statements twice, and cannot tell how many rows came. So this stands where every statement passes: it is
the driver that Superset's engine is made with (DB_CONNECTION_MUTATOR, see superset_config.py).

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

DRIVER = "clickhousedb"
UNMASKED_READER = "reader_unmasked"
WITNESS = "witness"
NOBODY = "(nobody: Superset itself)"
TIMEOUT_SECONDS = 10
MODEL_SECONDS = 60
"""How long a server's version, time zone and settings are believed."""
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
    """DB_CONNECTION_MUTATOR: the same engine, whose statements say who asks."""
    if uri.get_backend_name() != DRIVER:
        return uri, params
    asker = {"user": username or NOBODY, **_place()}
    driver = SimpleNamespace(**{**vars(dbapi), "connect": partial(AuditedConnection, asker)})
    return uri, {**params, "module": driver}


def comment(asker: Mapping[str, Any]) -> str:
    """A comment that no name can end: JSON in ASCII, what means something to SQL or the driver escaped."""
    text = json.dumps(asker)
    for sign in "*/%;":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f"/* superset {text} */"


class AuditedConnection(Connection):
    """A connection all of whose statements pass `_ask`."""

    def __init__(self, asker: Mapping[str, Any], **arguments: Any) -> None:
        self.client = _client(arguments)
        self.timezone = self.client.server_tz
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
    """A client of its own, as a connection with these arguments has it.

    A new client asks the server for its version, time zone and settings: two requests more for each statement
    of Superset's, whose connections live for one. So it is a copy of one that asked within MODEL_SECONDS. It
    shares with others what belongs to nobody: the address, the account and the sockets that nobody uses.
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
    """Whether a client is as clickhouse-connect 1.12.0 makes it, and has no sockets that end with it."""
    backend = getattr(model, "_backend", None)
    is_known = getattr(backend, "params", None) is model.params and hasattr(backend, "headers")
    return is_known and getattr(backend, "owns_pool_manager", True) is False


def _copy(model: Client) -> Client:
    """A client whose settings and session are its own; both are in `params`."""
    client = copy.copy(model)
    client._backend = copy.copy(model._backend)
    client._backend.headers = dict(model._backend.headers)
    session = {"session_id": str(uuid.uuid4())} if "session_id" in model.params else {}
    client.params = client._backend.params = {**model.params, **session}
    return client


def _record(access: Mapping[str, Any]) -> None:
    """Raises OSError, KeyError or urllib's HTTPError: then nothing is asked or shown."""
    columns = ", ".join(access)
    statement = f"INSERT INTO tailrace.unmasked_looks ({columns}) FORMAT JSONEachRow\n"
    password = Path(_RECORDER["SUPERSET_ACCESS_RECORDER_PASSWORD_FILE"]).read_text().strip()
    wanted = urllib.request.Request(
        _RECORDER["SUPERSET_ACCESS_RECORDER_URL"],
        (statement + json.dumps(access)).encode(),
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
