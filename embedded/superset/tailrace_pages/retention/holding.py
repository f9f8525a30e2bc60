"""The fields of the forms of legal holds, and the requests to the evidence service, which records holds
with the code and the audit trail of `tailrace hold`.

SUPERSET_EVIDENCE_SOCKET    its Unix socket; without it the pages name the commands
"""

import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tailrace.dashboards.connections import DATABASE_USERS
from tailrace.evidence.service.client import (
    MAX_TEXT,
    EvidenceService,
    NoServiceError,
    NotConnectedError,
    ServiceError,
)
from tailrace.retention import holds, selectors
from tailrace.retention.holds import Hold
from tailrace.retention.selectors import Selector, SelectorError
from tailrace_pages.page_errors import BadAddressError

SOCKET = "SUPERSET_EVIDENCE_SOCKET"
NOT_RUNNING = "The evidence service does not answer; `tailrace status` shows why. Nothing was recorded."
NO_ANSWER = "The evidence service did not answer in time, or its connection was lost."
UNKNOWN = (
    "The outcome is unknown: the list of legal holds and the record of each hold show what was recorded."
)
FORBIDDEN, SERVER_ERRORS = 403, 500
PREVIEW, PLACE = "preview", "place"
ACTIONS = (PREVIEW, PLACE)
STEPS = {
    holds.REQUEST: "{} requested the release. Another person must confirm it.",
    holds.CONFIRM: "{} confirmed the release: the hold has ended.",
}
"""The steps of a release, with the message after each."""
TEXT_LENGTH = MAX_TEXT


class RefusedError(Exception):
    """The hold was not placed or released, or this is unknown; the message is shown to the viewer."""

    is_unknown = False


class UnknownError(RefusedError):
    """The service failed or gave no answer, so that the action may be recorded."""

    is_unknown = True


@dataclass(frozen=True)
class Wanted:
    """The fields of the form of a new hold, as they were typed."""

    case: str = ""
    selector: str = ""
    reason: str = ""
    previewed: str = ""
    """The selector of the preview that the person saw."""
    hold: str = ""
    """The id that the hold will have, so that a repeated form places no second one."""

    @property
    def is_previewed(self) -> bool:
        return self.selector == self.previewed

    def parsed(self) -> Selector:
        """Returns the selector. Raises RefusedError with what was expected."""
        for name in ("case", "selector", "reason"):
            require_length(name, getattr(self, name))
        try:
            return selectors.parse(self.selector)
        except SelectorError as error:
            raise RefusedError(sentence(error)) from None


def wanted(form: Mapping[str, str]) -> Wanted:
    """Returns the fields of a form."""
    return Wanted(**{name: text(form, name) for name in ("case", "selector", "reason", "previewed", "hold")})


def new_id() -> str:
    return uuid.uuid4().hex


def action(form: Mapping[str, str]) -> str:
    """Returns the button of the form of a new hold. Raises BadAddressError."""
    return _one_of(form, "action", ACTIONS)


def step(form: Mapping[str, str]) -> str:
    """Returns the step of a release. Raises BadAddressError."""
    return _one_of(form, "step", tuple(STEPS))


def is_here(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this installation has an evidence service for the dashboards."""
    return bool(environment.get(SOCKET))


def place(form: Wanted, actor: str, database: str, environment: Mapping[str, str] = os.environ) -> str:
    """Places a hold under the name `actor`; returns its id. `database` is that of the viewer's audience.

    Raises RefusedError or UnknownError.
    """
    given = {"case": form.case, "selector": form.selector, "reason": form.reason, "hold": form.hold}
    return _answered(lambda: _service(environment).place_hold({**_who(actor, database), **given}))


def release(
    hold: Hold,
    chosen: str,
    reason: str,
    actor: str,
    database: str,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """Does a step of STEPS under the name `actor`; returns a message. Raises RefusedError or UnknownError."""
    given = {"hold": hold.id, "step": chosen, "reason": reason}
    _answered(lambda: _service(environment).release_hold({**_who(actor, database), **given}))
    return STEPS[chosen].format(actor)


def next_step(hold: Hold, name: str) -> str:
    """Returns the step that a person can do: a key of STEPS, or nothing."""
    if not hold.is_in_force or hold.is_requested_by(name):
        return ""
    return holds.CONFIRM if hold.requested_by else holds.REQUEST


def text(form: Mapping[str, str], name: str) -> str:
    """Returns a field without the space around it. Browsers count a line break once, but send CR LF."""
    return form.get(name, "").replace("\r\n", "\n").strip()


def require_length(name: str, given: str) -> None:
    """Raises RefusedError for a text that is too long."""
    if len(given) > TEXT_LENGTH:
        raise RefusedError(f"The {name} has {len(given)} characters; at most {TEXT_LENGTH} are possible.")


def refusal(database: str, environment: Mapping[str, str] = os.environ) -> str:
    """Returns why the service refuses all actions of an audience; nothing if it does not, or if it does not
    answer."""
    if not is_here(environment):
        return ""
    try:
        _service(environment).require_may_hold(_audience(database))
    except ServiceError as error:
        return sentence(error) if error.status == FORBIDDEN else ""
    except NoServiceError:
        return ""
    return ""


def sentence(error: Exception) -> str:
    message = str(error)
    return f"{message[:1].upper()}{message[1:]}."


def _one_of(form: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    if (found := form.get(name, "")) not in known:
        raise BadAddressError(f"{name}={found} does not exist; there are {', '.join(known)}.")
    return found


def _who(actor: str, database: str) -> dict[str, str]:
    return {"actor": actor, "audience": _audience(database)}


def _audience(database: str) -> str:
    return DATABASE_USERS[database].removeprefix("reader_")


def _service(environment: Mapping[str, str]) -> EvidenceService:
    if not is_here(environment):
        raise RefusedError("This installation has no evidence service for the dashboards: use tailrace hold.")
    return EvidenceService(Path(environment[SOCKET]))


def _answered(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except NotConnectedError as error:
        raise RefusedError(NOT_RUNNING) from error
    except NoServiceError as error:
        raise UnknownError(f"{NO_ANSWER} {UNKNOWN}") from error
    except ServiceError as error:
        if error.status >= SERVER_ERRORS:
            raise UnknownError(f"{sentence(error)} {UNKNOWN}") from error
        raise RefusedError(f"{sentence(error)} Nothing was recorded.") from error
