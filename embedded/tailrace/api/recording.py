"""Records each request with a valid token in tailrace.api_requests, before its response is sent.

If the row cannot be stored, the response is an error instead: nobody reads anything without a record.
"""

import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access import Caller
from tailrace.api.problems import Problem, problem_of
from tailrace.clickhouse.client import ClickHouseError

MAX_TARGET = 2000
MAX_BODY_BYTES = 64 << 10
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
REST = "rest"

Next = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Recorded:
    """What a route states about its request in `request.state.recorded`, if the address does not."""

    interface: str
    operation: str
    target: str
    status: int | None
    """None: that of the response."""


async def middleware(request: Request, call_next: Next) -> Response:
    """Answers a request: limits its body, converts exceptions, records it, and adds headers."""
    begin = time.monotonic()
    response = _refused_body(request) or await _answered(request, call_next)
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller:
        response = await _recorded(request, caller, response, time.monotonic() - begin)
        response.headers["RateLimit-Limit"] = str(caller.decision.limit)
        response.headers["RateLimit-Remaining"] = str(caller.decision.remaining)
    response.headers.update(HEADERS)
    return response


def _refused_body(request: Request) -> Response | None:
    """Returns a response if the body is too large, or its length unknown: it would be held in memory."""
    length = request.headers.get("content-length", "")
    if "transfer-encoding" in request.headers:
        return Problem(
            411, "length-required", "The length is missing", "Send Content-Length, without chunks."
        ).response()
    if length and (not length.isdecimal() or int(length) > MAX_BODY_BYTES):
        detail = f"A body has at most {MAX_BODY_BYTES} bytes."
        return Problem(413, "too-large", "The request is too large", detail).response()
    return None


async def _answered(request: Request, call_next: Next) -> Response:
    try:
        return await call_next(request)
    except Exception as error:  # a bug of the API: the log has its traceback
        request.app.state.log.exception("%s %s failed", request.method, request.url.path)
        return problem_of(error).response()


async def _recorded(request: Request, caller: Caller, response: Response, seconds: float) -> Response:
    row = row_of(caller, _stated(request, response), seconds)
    try:
        await run_in_threadpool(store, caller, row)
    except (ClickHouseError, OSError) as error:
        request.app.state.log.error("a request could not be recorded", exc_info=error)
        detail = "The request could not be recorded, so it is not answered. Try again later."
        headers = {"Retry-After": "10"}
        return Problem(503, "unavailable", "The data cannot be read now", detail, headers).response()
    return response


def target_of(request: Request) -> str:
    """Returns the path with its parameters; a cursor contains nothing else, so it is left out."""
    given = "&".join(part for part in request.url.query.split("&") if part and not part.startswith("cursor="))
    return f"{request.url.path}?{given}"[:MAX_TARGET] if given else request.url.path[:MAX_TARGET]


def _stated(request: Request, response: Response) -> Recorded:
    its = getattr(request.state, "recorded", None)
    if its is None:
        operation = getattr(request.scope.get("route"), "operation_id", None) or ""
        return Recorded(REST, operation, target_of(request), response.status_code)
    status = response.status_code if its.status is None else its.status
    return Recorded(its.interface, its.operation, its.target[:MAX_TARGET], status)


def row_of(caller: Caller, stated: Recorded, seconds: float) -> dict[str, object]:
    """Returns the row of a request."""
    return {
        "request_id": str(uuid.uuid4()),
        "token_id": str(caller.token.id),
        "owner": caller.owner,
        "role": caller.role,
        "interface": stated.interface,
        "operation": stated.operation,
        "target": stated.target,
        "client": caller.client,
        "status": stated.status,
        "rows": caller.count if stated.status < 400 else 0,
        "seconds": round(seconds, 6),
    }


def store(caller: Caller, row: dict[str, object]) -> None:
    """Stores the row of a request. Raises ClickHouseError, OSError."""
    caller.services.accounts.service().insert(f"tailrace.api_requests ({', '.join(row)})", [row])
