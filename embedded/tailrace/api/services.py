"""What the routes use: accounts, limits, cursors, and the clock."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from starlette.requests import Request

from tailrace.api.accounts import SERVICE, Accounts
from tailrace.api.cursors import Cursors
from tailrace.api.rate_limits import RateLimiter
from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence.service.client import EvidenceService

REQUESTS_PER_MINUTE = 600
FAILURES_PER_MINUTE = 30
"""Requests of one client without a valid token; more are refused without looking the token up."""

MOST_KNOWN = 10_000


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Services:
    """The connections and the state of one running API."""

    accounts: Accounts
    cursors: Cursors
    tokens: RateLimiter
    """By token."""
    clients: RateLimiter
    """By client, of requests without a valid token."""
    evidence: EvidenceService | None = None
    """None if no evidence service runs."""
    now: Callable[[], datetime] = field(default=_now)
    known: set[str] = field(default_factory=set)
    """Hashes of tokens that were valid. They are looked up for each request, but not refused because other
    programs at the same address guess."""

    def remember(self, digest: str) -> None:
        """Adds the hash of a valid token."""
        if len(self.known) >= MOST_KNOWN:
            self.known.clear()
        self.known.add(digest)


def services_of(request: Request) -> Services:
    return request.app.state.services


def connected(
    connect: Callable[[str], ClickHouse],
    evidence_socket: Path | None = None,
    per_minute: int = REQUESTS_PER_MINUTE,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], datetime] = _now,
) -> Services:
    """Returns the services with one ClickHouse; `connect` returns the access of a user by name.

    The key of cursors derives from the password of the service's own user, so that cursors stay valid after a
    restart.
    """
    key = hashlib.sha256(b"tailrace cursors " + connect(SERVICE).password.encode()).digest()
    return Services(
        Accounts(connect),
        Cursors(key),
        RateLimiter(per_minute, clock),
        RateLimiter(FAILURES_PER_MINUTE, clock),
        EvidenceService(evidence_socket) if evidence_socket else None,
        now,
    )
