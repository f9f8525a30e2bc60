"""Requests to the evidence service (tailrace.evidence.service), which holds the key and the ClickHouse
account of the exports.

    SUPERSET_EVIDENCE_SOCKET    its Unix socket; without it the page shows commands instead of forms
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tailrace.dashboards.connections import DATABASE_USERS
from tailrace.evidence.service.client import EvidenceService, NoServiceError, ServiceError
from tailrace_pages.page_errors import (
    BadAddressError,
    ForbiddenError,
    NotFoundError,
    PageError,
    UnavailableError,
)

SOCKET = "SUPERSET_EVIDENCE_SOCKET"
NOT_HERE = (
    "This installation has no evidence service for the dashboards. Use the commands tailrace evidence and "
    "tailrace review."
)
NOT_RUNNING = (
    "The evidence service does not answer; `tailrace status` shows why. The commands tailrace evidence and "
    "tailrace review do the same."
)
STATUS_ERRORS = {400: BadAddressError, 403: ForbiddenError, 404: NotFoundError}


def state(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Returns the exports and the key of the service; without a service, `problem` states why."""
    try:
        service = _service(environment)
        known = {"key": service.status()["key_fingerprint"], "exports": service.exports()}
    except (NoServiceError, PageError) as error:
        problem = str(error) if isinstance(error, PageError) else NOT_RUNNING
        return {"problem": problem, "key": "", "exports": []}
    return {"problem": "", **known}


def start(framework: str, first: str, end: str, actor: str, database: str) -> str:
    """Starts an export; returns its id. `database` is the viewer's. Raises PageError or ServiceError."""
    return _answered(lambda service: service.start(framework, first, end, actor, _audience(database)))


def sign(review: Mapping[str, object], database: str) -> str:
    """Signs a review; returns its id. `database` is the viewer's. Raises PageError or ServiceError."""
    return _answered(lambda service: service.sign({**review, "audience": _audience(database)}))


def verify(bundle: BinaryIO, size: int) -> str:
    """Verifies a bundle; returns the id of the result. Raises PageError or ServiceError."""
    return _answered(lambda service: service.verify(bundle, size))


def export(number: str) -> dict[str, Any]:
    """Returns the state of an export. Raises PageError."""
    return _known(lambda service: service.export(number))


def verification(number: str) -> dict[str, Any]:
    """Returns the result of a verification. Raises PageError."""
    return _known(lambda service: service.verification(number))


def readable(number: str, database: str) -> dict[str, Any]:
    """Returns the state of an export whose bundle a viewer with this database may read. Raises PageError."""
    return _known(lambda service: service.readable(number, _audience(database)))


def bundle(number: str, database: str) -> tuple[Any, int]:
    """Returns an opened bundle as a context manager. Raises PageError when it is entered."""
    return _service().bundle(number, _audience(database))


def _audience(database: str) -> str:
    return DATABASE_USERS[database].removeprefix("reader_")


def _known(ask: Callable[[EvidenceService], Any]) -> Any:
    try:
        return _answered(ask)
    except ServiceError as error:
        raise STATUS_ERRORS.get(error.status, UnavailableError)(_sentence(error)) from error


def _answered(ask: Callable[[EvidenceService], Any]) -> Any:
    try:
        return ask(_service())
    except NoServiceError as error:
        raise UnavailableError(NOT_RUNNING) from error


def _service(environment: Mapping[str, str] = os.environ) -> EvidenceService:
    if not environment.get(SOCKET):
        raise UnavailableError(NOT_HERE)
    return EvidenceService(Path(environment[SOCKET]))


def _sentence(error: ServiceError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
