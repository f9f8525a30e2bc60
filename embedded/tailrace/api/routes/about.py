"""The token of the request, and the health of the service."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from tailrace.api.access import Caller, scoped
from tailrace.api.services import services_of

router = APIRouter(tags=["about"])
health_router = APIRouter()


class TokenDetails(BaseModel):
    """The token of the request."""

    id: str
    owner: str
    role: str
    scopes: list[str] = Field(description="That the token has and its role can have")
    expires_at: datetime


class Health(BaseModel):
    status: Literal["ok"]


@router.get("/token", operation_id="read_token", response_model=TokenDetails)
def read_token(caller: Annotated[Caller, scoped("")]):
    """Returns the owner, role, scopes and expiry of the token of the request."""
    token = caller.token
    scopes = sorted(scope for scope in token.scopes if token.permits(scope))
    return {
        "id": token.id.hex,
        "owner": token.owner,
        "role": token.role,
        "scopes": scopes,
        "expires_at": token.expires_at,
    }


@health_router.get("/health", operation_id="read_health", response_model=Health, include_in_schema=False)
def read_health(request: Request):
    """Returns whether ClickHouse answers the service."""
    services_of(request).accounts.service().execute("SELECT 1", timeout=5)
    return {"status": "ok"}
