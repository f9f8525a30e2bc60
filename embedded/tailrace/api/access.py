"""Who sends a request: the token, its role and scopes. Every route depends on `caller`, with its scope:

@router.get("/alerts")
def list_alerts(caller: Annotated[Caller, Security(caller, scopes=["alerts:read"])]): ...
"""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes
from starlette.requests import Request

from tailrace.api import tokens
from tailrace.api.problems import Problem, forbidden
from tailrace.api.rate_limits import Decision
from tailrace.api.services import Services, services_of
from tailrace.api.tokens import Token
from tailrace.reading.rows import Rows

BEARER = HTTPBearer(
    scheme_name="token",
    description="A token of `tailrace tokens create`. Each operation lists the scope that it needs.",
    auto_error=False,
)


@dataclass
class Caller:
    """The sender of a request with a valid token."""

    token: Token
    client: str
    """The address of the client."""
    decision: Decision
    services: Services
    count: int = 0
    """Rows of the response."""

    @property
    def owner(self) -> str:
        return self.token.owner

    @property
    def role(self) -> str:
        return self.token.role

    def rows(self) -> Rows:
        """Returns a function that runs queries as the role of the token."""
        return self.services.accounts.rows(self.role)

    def counted(self, rows: list) -> list:
        """Records how many rows the response has; returns them."""
        self.count += len(rows)
        return rows


def caller(
    request: Request,
    needed: SecurityScopes,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)],
) -> Caller:
    """Returns who sends the request. Raises Problem 401, 403 or 429."""
    services = services_of(request)
    client = request.client.host if request.client else ""
    token = _valid_token(services, client, credentials)
    decision = services.tokens.take(str(token.id))
    found = request.state.caller = Caller(token, client, decision, services)
    if not decision.allowed:
        raise too_many(decision)
    for scope in needed.scopes:
        require(token, scope)
    return found


def scoped(scope: str) -> Any:
    """Returns the dependency of a route that needs a scope; without one every valid token suffices."""
    return Security(caller, scopes=[scope] if scope else [])


def _valid_token(services: Services, client: str, credentials: HTTPAuthorizationCredentials | None) -> Token:
    secret = credentials.credentials if credentials else ""
    attempt = services.clients.look(client)
    if not attempt.allowed and tokens.digest(secret) not in services.known:
        raise too_many(attempt)
    if credentials is None:
        services.clients.take(client)
        raise _unauthorized("", "The request has no token; send `Authorization: Bearer TOKEN`.")
    token = tokens.find(services.accounts.service(), secret)
    problem = _problem_of(token, services)
    if token is None or problem:
        services.known.discard(tokens.digest(secret))
        services.clients.take(client)
        raise _unauthorized("invalid_token", problem)
    services.remember(tokens.digest(secret))
    return token


def _problem_of(token: Token | None, services: Services) -> str:
    if token is None or token.role not in tokens.ROLES:
        return "The token is unknown."
    if token.revoked_at:
        return "The token was revoked."
    return "The token has expired." if token.has_expired(services.now()) else ""


def require(token: Token, scope: str) -> None:
    """Raises Problem 403, which names the missing right, unless the token permits the scope."""
    if scope not in token.scopes:
        raise forbidden(f"The token lacks the scope {scope}.")
    if not token.permits(scope):
        raise forbidden(f"The role {token.role} cannot have the scope {scope}.")


def _unauthorized(error: str, detail: str) -> Problem:
    challenge = 'Bearer realm="tailrace"' + (f', error="{error}"' if error else "")
    return Problem(
        401, "unauthorized", "The request has no valid token", detail, {"WWW-Authenticate": challenge}
    )


def too_many(decision: Decision) -> Problem:
    detail = f"At most {decision.limit} requests per minute are allowed; wait {decision.retry_after} s."
    headers = {"Retry-After": str(decision.retry_after)}
    return Problem(429, "too-many-requests", "Too many requests", detail, headers)
