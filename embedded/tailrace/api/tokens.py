"""Tokens of the API. Each has an owner, a role, scopes and an expiry, and never changes; it can be revoked.

A token is `tailrace_` and 43 characters of random Base64 (256 bits). tailrace.api_token_actions has only its
SHA-256: a fast hash suffices, because such a token cannot be guessed.
"""

import hashlib
import re
import secrets
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.dashboards import roles as dashboard_roles
from tailrace.errors import ReportedError
from tailrace.reading.rows import reader

ROLES = ("developer", "compliance", "security")
"""Each reads as its own user of ClickHouse."""
SCOPES: Mapping[str, str] = {
    "events:read": "",
    "alerts:read": "read_alerts",
    "alerts:write": "handle_alerts",
    "queries:read": "queries",
    "ledger:read": "",
    "evidence:read": "evidence",
    "search:read": "",
    "saved_searches:read": "search",
    "saved_searches:write": "search",
    "schedules:write": "schedule_searches",
    "names:reveal": "reveal_names",
}
"""Scopes, and the bundle of dashboards/roles.yaml that a role needs for it; without one every role can
have it."""
OLD_SCOPES = {"books:read": "ledger:read"}
"""Old names in stored tokens and commands; release 0.3.0 removes them."""
PAGES = "Tailrace pages"
MANAGER = "admin"
"""The user of ClickHouse that creates and revokes tokens: the service itself cannot."""
MAX_DAYS = 366
PREFIX = "tailrace_"
_TOKEN = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
_ID = re.compile(r"[0-9a-f]{1,32}")


class TokenError(ReportedError):
    """A token cannot be created, found or revoked; the message is shown to the user."""


@dataclass(frozen=True)
class Token:
    """A token as it is stored."""

    id: uuid.UUID
    owner: str
    role: str
    scopes: frozenset[str]
    expires_at: datetime
    revoked_at: datetime | None = None

    def has_expired(self, now: datetime) -> bool:
        return now >= self.expires_at

    def permits(self, scope: str) -> bool:
        """Returns whether the token has this scope, and its role can have it (a role may have lost it)."""
        return scope in self.scopes and scope in scopes_of(self.role)


@dataclass(frozen=True)
class Wanted:
    """A token to create."""

    owner: str
    role: str
    scopes: Collection[str]
    days: int
    """Validity in days, 1 to MAX_DAYS."""
    actor: str
    """Who creates it."""
    reason: str = ""


@cache
def scopes_of(role: str) -> frozenset[str]:
    """Returns the scopes that tokens of a role can have: pages and API have the same permissions."""
    held = dashboard_roles.load()[role].permissions
    return frozenset(
        scope for scope, bundle in SCOPES.items() if not bundle or (f"can_{bundle}", PAGES) in held
    )


def current_scope(name: str) -> str:
    """Returns the name of a scope that may have its old name."""
    return OLD_SCOPES.get(name, name)


def digest(secret: str) -> str:
    """Returns the SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def create(clickhouse: ClickHouse, wanted: Wanted, now: datetime) -> tuple[str, Token]:
    """Stores a new token; returns it, which is shown once, and its description. Raises TokenError, OSError.

    `clickhouse` is the access of MANAGER.
    """
    _require_possible(wanted)
    secret = PREFIX + secrets.token_urlsafe(32)
    expires_at = (now.astimezone(UTC) + timedelta(days=wanted.days)).replace(microsecond=0)
    token = Token(uuid.uuid4(), wanted.owner, wanted.role, frozenset(wanted.scopes), expires_at)
    row = {
        "token_id": str(token.id),
        "action": "create",
        "token_sha256": digest(secret),
        "owner": token.owner,
        "role": token.role,
        "scopes": sorted(token.scopes),
        "expires_at": f"{expires_at:%Y-%m-%d %H:%M:%S}",
        "actor": wanted.actor,
        "reason": wanted.reason,
    }
    clickhouse.insert(f"tailrace.api_token_actions ({', '.join(row)})", [row])
    return secret, token


def _require_possible(wanted: Wanted) -> None:
    if wanted.role not in ROLES:
        raise TokenError(f"there is no role {wanted.role!r}; there are {', '.join(ROLES)}")
    if not wanted.owner.strip() or not wanted.actor.strip():
        raise TokenError("a token needs an owner, and somebody who creates it")
    if not wanted.scopes:
        raise TokenError(f"a token needs at least one scope of {', '.join(SCOPES)}")
    if unknown := sorted(set(wanted.scopes) - SCOPES.keys()):
        raise TokenError(f"there is no scope {unknown[0]!r}; there are {', '.join(SCOPES)}")
    if denied := sorted(set(wanted.scopes) - scopes_of(wanted.role)):
        raise TokenError(
            f"the role {wanted.role} cannot have {', '.join(denied)}: its pages do not show that either "
            "(docs/ROLES.md)"
        )
    if not 1 <= wanted.days <= MAX_DAYS:
        raise TokenError(f"a token is valid for 1 to {MAX_DAYS} days, not {wanted.days}")


def find(clickhouse: ClickHouse, secret: str) -> Token | None:
    """Returns the token whose text this is, also an expired or revoked one; None for any other text.

    `clickhouse` is the access of the service. Raises ClickHouseError, OSError.
    """
    if not _TOKEN.fullmatch(secret):
        return None
    found = reader(clickhouse)("api_token", hash=digest(secret))
    return _token(found[0]) if found else None


def _token(row: Row) -> Token:
    revoked = datetime.fromisoformat(row["revoked_at"]) if row["is_revoked"] else None
    return Token(
        uuid.UUID(row["token_id"]),
        row["owner"],
        row["role"],
        frozenset(map(current_scope, row["scopes"])),
        datetime.fromisoformat(row["expires_at"]),
        revoked,
    )


def listed(clickhouse: ClickHouse) -> list[Row]:
    """Returns all tokens without their hashes, the newest first, with their last use. Raises OSError."""
    return reader(clickhouse)("api_tokens")


def revoke(clickhouse: ClickHouse, prefix: str, actor: str, reason: str) -> str:
    """Revokes the token whose id has this prefix; returns its id. Raises TokenError, OSError."""
    row = _only(listed(clickhouse), prefix.lower().replace("-", ""))
    if row["state"] == "revoked":
        raise TokenError(f"{row['id'][:8]} is revoked already")
    given = {"token_id": str(uuid.UUID(row["id"])), "action": "revoke", "owner": row["owner"]}
    given |= {"role": row["role"], "actor": actor, "reason": reason}
    clickhouse.insert(f"tailrace.api_token_actions ({', '.join(given)})", [given])
    return row["id"]


def _only(rows: Sequence[Row], prefix: str) -> Row:
    if not _ID.fullmatch(prefix):
        raise TokenError(f"{prefix!r} is not the id of a token; see: tailrace tokens list")
    found = [row for row in rows if row["id"].startswith(prefix)]
    if not found:
        raise TokenError(f"there is no token {prefix}; see: tailrace tokens list")
    if len(found) > 1:
        raise TokenError(f"{prefix} matches the ids of {len(found)} tokens; give more digits")
    return found[0]
