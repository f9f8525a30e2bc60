"""The application of all routes, and its OpenAPI document."""

import logging
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from tailrace.api import problems, recording
from tailrace.api.mcp import endpoint as mcp
from tailrace.api.problems import MEDIA_TYPE, ProblemDetails
from tailrace.api.routes import about, alerts, events, evidence, ledger, queries, saved_searches, search
from tailrace.api.services import Services

VERSION = "/api/v1"
DOCUMENT = f"{VERSION}/openapi.json"
ROUTERS = tuple(
    each.router for each in (events, search, saved_searches, alerts, queries, ledger, evidence, about)
)
DESCRIPTION = """Logs of MySQL servers as JSON. Statements are masked: no response contains a literal of a
statement.

Every request but this document needs a token with the scope of the operation. Errors are problem details
(RFC 9457)."""
PROBLEMS = {
    400: "The request is invalid",
    401: "The request has no valid token",
    403: "The token does not permit this",
    404: "There is no such resource, or the role does not see it",
    409: "The state does not allow this",
    429: "Too many requests; see Retry-After",
    503: "The data cannot be read now; see Retry-After",
}


def application(services: Services | None) -> FastAPI:
    """Returns the application; without services it has only its document."""
    made = FastAPI(
        title="Tailrace",
        version="1",
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses={status: _described(text) for status, text in PROBLEMS.items()},
    )
    made.state.services = services
    made.state.log = logging.getLogger(__name__)
    for router in ROUTERS:
        made.include_router(router, prefix=VERSION)
    made.include_router(about.health_router)
    made.include_router(mcp.router)
    problems.add_handlers(made)
    made.middleware("http")(recording.middleware)
    made.openapi = _document(made, made.openapi)
    made.add_api_route(DOCUMENT, lambda: JSONResponse(made.openapi()), include_in_schema=False)
    return made


def _described(text: str) -> dict[str, Any]:
    return {"description": text, "content": {MEDIA_TYPE: {"schema": {"$ref": _PROBLEM}}}}


_PROBLEM = "#/components/schemas/ProblemDetails"


def _document(made: FastAPI, generate: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Returns a function that returns the document: with problems as the only schema of errors."""

    def document() -> dict[str, Any]:
        if "x-tailrace-roles" in (made.openapi_schema or {}):
            return made.openapi_schema
        found = generate()
        schemas = found["components"]["schemas"]
        schema = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= {**schema.pop("$defs", {}), "ProblemDetails": schema}
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        for path in found["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        found["x-tailrace-roles"] = roles()
        made.openapi_schema = found
        return found

    return document


def roles() -> dict[str, list[str]]:
    """Returns the scopes that tokens of each role can have."""
    from tailrace.api import tokens

    return {role: sorted(tokens.scopes_of(role)) for role in tokens.ROLES}
