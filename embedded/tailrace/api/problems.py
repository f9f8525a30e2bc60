"""Errors as problem details (RFC 9457, application/problem+json).

`type` is `urn:tailrace:problem:` and a name of docs/REST.md; `detail` says what to do. Neither contains
text of ClickHouse's error, which may contain values of a query: the log of the service has it.
"""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from tailrace.clickhouse.client import ClickHouseError
from tailrace.evidence.service.client import NoServiceError, ServiceError

URN = "urn:tailrace:problem:"
MEDIA_TYPE = "application/problem+json"
ACCESS_DENIED, TOO_SLOW, TOO_MANY_ROWS, QUOTA, TOO_MANY_QUERIES, NO_MEMORY = 497, 159, 396, 201, 202, 241
BUSY = {TOO_SLOW, TOO_MANY_ROWS, QUOTA, TOO_MANY_QUERIES, NO_MEMORY}
TITLES = {
    404: ("not-found", "There is no such resource"),
    405: ("method-not-allowed", "The resource does not have this method"),
}

_log = logging.getLogger(__name__)


class FieldError(BaseModel):
    """A part of the request that is invalid."""

    location: str = Field(description="Such as `query.from` or `body.reason`")
    detail: str


class ProblemDetails(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(description=f"`{URN}` and the name of the problem")
    title: str
    status: int
    detail: str
    errors: list[FieldError] | None = Field(None, description="Of the type invalid-request")


class Problem(Exception):  # noqa: N818
    """The request cannot be answered; the response is a ProblemDetails."""

    def __init__(
        self,
        status: int,
        name: str,
        title: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = dict(headers or {})
        self.content = {"type": URN + name, "title": title, "status": status, "detail": detail, **more}

    def response(self) -> JSONResponse:
        return JSONResponse(self.content, self.status, self.headers, media_type=MEDIA_TYPE)


def not_found(what: str) -> Problem:
    """A resource that does not exist, or that the role does not see; the response is the same for both."""
    return Problem(404, "not-found", TITLES[404][1], f"There is no {what}, or the role does not see it.")


def add_handlers(application: FastAPI) -> None:
    """Converts the expected exceptions of routes to problems; recording.py does so with all others."""
    application.add_exception_handler(Problem, lambda _, error: error.response())
    application.add_exception_handler(RequestValidationError, _invalid)
    application.add_exception_handler(HTTPException, _of_framework)
    for kind in (ClickHouseError, OSError, NoServiceError, ServiceError):
        application.add_exception_handler(kind, _failed)


def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
    errors = [{"location": ".".join(map(str, each["loc"])), "detail": each["msg"]} for each in error.errors()]
    detail = "; ".join(f"{each['location']}: {each['detail']}" for each in errors[:3])
    return Problem(400, "invalid-request", "The request is invalid", detail, errors=errors).response()


def _of_framework(_: Request, error: HTTPException) -> JSONResponse:
    name, title = TITLES.get(error.status_code, ("invalid-request", "The request is invalid"))
    return Problem(error.status_code, name, title, f"{error.detail}.", error.headers).response()


def _failed(request: Request, error: Exception) -> JSONResponse:
    problem = problem_of(error)
    if problem.status >= 500:
        _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem.response()


def problem_of(error: Exception) -> Problem:
    """Returns the problem of a failure outside of the API's own code."""
    if isinstance(error, ClickHouseError):
        return _of_clickhouse(error)
    if isinstance(error, ServiceError):
        return Problem(error.status, "evidence-refused", "The evidence service refused this", f"{error}.")
    if isinstance(error, NoServiceError | OSError):
        detail = "A server that the API reads does not answer. Try again later."
        return Problem(503, "unavailable", "The data cannot be read now", detail, {"Retry-After": "10"})
    detail = "The log of the API has the reason."
    return Problem(500, "internal-error", "The request failed", detail)


def _of_clickhouse(error: ClickHouseError) -> Problem:
    if error.code == ACCESS_DENIED:
        return forbidden("The role of the token does not read these rows.")
    if error.code in BUSY:
        detail = "The query needs more than a request may use. Choose a shorter time range or more filters."
        return Problem(503, "too-expensive", "The query takes too long", detail, {"Retry-After": "10"})
    detail = "ClickHouse refused the query. The log of the API has the reason."
    return Problem(503, "unavailable", "The data cannot be read now", detail, {"Retry-After": "10"})


def forbidden(detail: str) -> Problem:
    """The token is valid, and does not permit the request."""
    return Problem(403, "forbidden", "The token does not permit this", detail)
