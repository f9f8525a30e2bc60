"""The REST API on a test's ClickHouse: Starlette's client without a socket, tokens, and rows to read."""

import dataclasses
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from clickhouse_servers import Server
from fastapi import FastAPI
from fastapi.testclient import TestClient
from ledger_fixture import LedgerRows

from e2e.alert_rows import alert
from e2e.limits import LIMIT_SECONDS, warn_if_long
from tailrace.api import services, tokens
from tailrace.api.application import application
from tailrace.api.rate_limits import RateLimiter
from tailrace.api.tokens import Wanted
from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence.service.server import Server as EvidenceServer
from tailrace.evidence.service.server import Service
from tailrace.search.scheduled import saved
from tailrace.search.scheduled.saved import SavedSearch

NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=1)
"""Yesterday at a full hour: no result depends on the time of the test."""
HOUR = timedelta(hours=1)
RANGE = {"from": f"{NOW - HOUR:%Y-%m-%dT%H:%M:%SZ}", "to": f"{NOW + HOUR:%Y-%m-%dT%H:%M:%SZ}"}
IT = 0xFFFF_0000_0000_0001
"""A query id that a signed number cannot hold."""
ALERT = "00000000-0000-0000-0000-0000000000a1"
OLD_PLAN, NEW_PLAN = "00000000000000aa", "00000000000000bb"
PROBLEM = "application/problem+json"


@dataclass
class Clock:
    """A clock that a test sets: seconds for limits, and the time of the day for tokens."""

    seconds: float = 1000.0
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


class Api:
    """One running application."""

    def __init__(
        self,
        server: Server,
        per_minute: int = 1_000_000,
        failures: int = 1_000_000,
        evidence_socket: Path | None = None,
    ) -> None:
        self.clock = Clock()
        found = services.connected(
            server.user,
            evidence_socket,
            per_minute,
            clock=lambda: self.clock.seconds,
            now=lambda: self.clock.now,
        )
        self._evidence_socket = evidence_socket
        clients = RateLimiter(failures, lambda: self.clock.seconds)
        self.services = dataclasses.replace(found, clients=clients)
        self.application = _application()
        self.application.state.services = self.services
        self.client = TestClient(self.application, raise_server_exceptions=False)
        self._admin = server.user("admin")

    @contextmanager
    def serving(self, service: Service) -> Iterator[None]:
        """Runs an evidence service at the socket of this application."""
        with EvidenceServer(self._evidence_socket, service) as server:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
            try:
                yield
            finally:
                server.shutdown()

    def token(self, role: str = "security", *scopes: str, owner: str = "soar", days: int = 30) -> str:
        """Creates a token; without scopes with all that the role can have."""
        given = scopes or tuple(sorted(tokens.scopes_of(role)))
        secret, _ = tokens.create(
            self._admin, Wanted(owner, role, given, days, "ann", "test"), self.clock.now
        )
        return secret

    def stored_token(self, role: str, scopes: list[str]) -> str:
        """Stores a token with scopes that its role cannot have, as if the role had lost them."""
        secret = tokens.PREFIX + uuid.uuid4().hex + "x" * 11
        row = {"token_id": str(uuid.uuid4()), "action": "create", "token_sha256": tokens.digest(secret)}
        row |= {"owner": "soar", "role": role, "scopes": scopes, "actor": "ann", "expires_at": "2090-01-01"}
        self._admin.insert("tailrace.api_token_actions", [row])
        return secret

    def get(self, path: str, token: str, **parameters):
        return self.client.get(f"/api/v1{path}", params=parameters, headers=bearer(token))

    def post(self, path: str, token: str, body: object):
        return self.client.post(f"/api/v1{path}", json=body, headers=bearer(token))

    def pages(self, path: str, token: str, **parameters) -> Iterator[list[dict]]:
        """Yields the items of each page of a list."""
        cursor = None
        while True:
            given = {**parameters, **({"cursor": cursor} if cursor else {})}
            response = self.get(path, token, **given)
            assert response.status_code == 200, response.text
            yield response.json()["items"]
            if not (cursor := response.json()["next_cursor"]):
                return


@cache
def _application() -> FastAPI:
    """To make it takes longer than most requests."""
    return application(None)


@contextmanager
def running(server: Server, **options: Any) -> Iterator[Api]:
    """Yields an application with one event loop for all requests."""
    api = Api(server, **options)
    with api.client:
        yield api


def wait_until(read: Callable[[], dict], holds: Callable[[dict], bool]) -> dict:
    """Returns the first value that fulfils a condition."""
    began = time.monotonic()
    while not holds(found := read()):
        assert time.monotonic() - began < LIMIT_SECONDS, found
        time.sleep(0.1)
    warn_if_long(time.monotonic() - began, f"{found}")
    return found


def bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token is not None else {}


def sql(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S.%f}"


def event(number: int, at: datetime = NOW, **columns) -> dict:
    """Returns what rows of all logs have."""
    its = {"event_id": str(uuid.UUID(int=number)), "cluster": "shop", "instance": "db1"}
    place = {"log": "/log/a.log", "generation": 1, "entry_offset": number, "event_time": sql(at)}
    return {**its, **place, "user": "app", "ip": "10.0.0.9", "host": "web-1", "database": "shop", **columns}


def statement(number: int, at: datetime = NOW, **columns) -> dict:
    its = {"source": "slowlog", "query_id": IT, "query_time": 0.25, "weight": 1, "verb": "SELECT"}
    return event(number, at, **{**its, "rule_set": "tailrace-2", "tables_read": ["shop.cards"], **columns})


def audit(number: int, at: datetime = NOW, **columns) -> dict:
    its = {"source": "audit", "event_class": "query", "command": "Query", "query_id": IT, "verb": "SELECT"}
    return event(number, at, **{**its, "rule_set": "tailrace-2", **columns})


def message(number: int, at: datetime = NOW, **columns) -> dict:
    its = {"source": "errorlog", "level": "ERROR", "kind": "access_denied", "message": "denied"}
    return event(number, at, **{**its, **columns})


def access(number: int, at: datetime = NOW, **columns) -> dict:
    its = {"event_id": str(uuid.UUID(int=number)), "event_time": sql(at), "cluster": "shop", "user": "app"}
    touched = {"data_class": ["pci"], "data_class_read": ["pci"], "query_id": IT, "outcome": "success"}
    place = {"instance": "db1", "source": "audit", "database": "shop", "src_ip": "10.0.0.9"}
    return {**its, **place, **touched, **columns}


def raised(number: int, at: datetime = NOW, **columns) -> dict:
    times = dict.fromkeys(("event_time", "window_from", "seen_at", "updated_at"), sql(at))
    return alert(**{"alert_id": str(uuid.UUID(int=number)), **times, **columns})


SEARCH_ROLES = {"developer": "developers", "compliance": "compliance", "security": "security"}
"""The audiences of the search by the roles of tokens."""


def saved_search(role: str, name: str = "hourly", owner: str = "soar", **columns: Any) -> SavedSearch:
    """Returns a saved search of an owner, in the role of a token."""
    return SavedSearch(owner, name, SEARCH_ROLES[role], **{"search": "log:slow", **columns})


def store_saved_search(admin: ClickHouse, role: str) -> None:
    """Stores a saved search of the owner of tokens, and a channel."""
    saved.store(admin, saved_search(role))
    channel = {"channel": "siem", "kind": "webhook", "state": "working", "since": int(NOW.timestamp())}
    admin.append("tailrace.delivery_channels", [channel])


LISTS = {
    "list_statement_events": ("query_events", statement),
    "list_audit_events": ("audit_events", audit),
    "list_error_events": ("error_events", message),
    "list_access_events": ("data_access", access),
    "list_alerts": ("alerts", raised),
}
"""Operations whose result is read page by page: their table, and a function that returns a row of it."""


def insert_everything(admin) -> None:
    """Stores something that each operation finds in RANGE."""
    for table, row in LISTS.values():
        admin.insert(f"tailrace.{table}", [row(1)])
    admin.insert("tailrace.alerts", [raised(0xA1, alert_id=ALERT)])
    text = {"query_id": IT, "rule_set": "tailrace-2", "fingerprint": "select id from cards where id = ?"}
    admin.insert("tailrace.fingerprints", [{**text, "seen_at": sql(NOW), "first_seen_at": sql(NOW - HOUR)}])
    admin.insert(
        "tailrace.plans",
        [plan(OLD_PLAN, "cards: ref by id, 7 rows"), plan(NEW_PLAN, "cards: ALL, 9,000 rows")],
    )
    LedgerRows(instance="db9", at=NOW).read(3).store(admin)


def plan(plan_hash: str, step: str) -> dict:
    its = {"query_id": IT, "plan_hash": plan_hash, "cluster": "shop", "instance": "db1", "database": "shop"}
    times = {"first_seen_at": sql(NOW - HOUR / 2), "last_seen_at": sql(NOW), "seen_at": sql(NOW)}
    return {**its, **times, "tree": f"query block\n  {step}", "source": "slowlog", "rule_set": "tailrace-2"}
