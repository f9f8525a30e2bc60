"""The route `POST /mcp`: Streamable HTTP without sessions; each request gets one JSON response."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from tailrace.api.access import Caller, scoped
from tailrace.api.mcp import protocol
from tailrace.api.problems import forbidden
from tailrace.api.recording import Recorded

PATH = "/mcp"
INTERFACE = "mcp"
LOOPBACK = {"127.0.0.1", "localhost", "::1"}

router = APIRouter()


async def _body(request: Request) -> bytes:
    return await request.body()


@router.post(PATH, operation_id="mcp", include_in_schema=False)
def post_message(
    caller: Annotated[Caller, scoped("")], request: Request, body: Annotated[bytes, Depends(_body)]
) -> Response:
    """Answers one message of the Model Context Protocol."""
    request.state.recorded = Recorded(INTERFACE, "message", PATH, None)
    _require_origin(request.headers.get("origin"))
    found = protocol.answer(caller, body, request.headers.get("mcp-protocol-version"))
    target = f"{PATH} {found.asked}" if found.asked else PATH
    request.state.recorded = Recorded(INTERFACE, found.operation, target, found.status)
    if found.content is None:
        return Response(status_code=found.http_status)
    return JSONResponse(found.content, found.http_status)


def _require_origin(origin: str | None) -> None:
    """Refuses pages of other hosts: a name that a page's owner rebinds to this address would be one."""
    try:
        its = urlsplit(origin or "")
        is_foreign = its.scheme in ("http", "https") and its.hostname not in LOOPBACK
    except ValueError:
        is_foreign = True
    if is_foreign:
        raise forbidden("Pages of other hosts cannot use this endpoint.")
