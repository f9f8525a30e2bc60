"""The forms of legal holds: what they ask for, and the requests to the evidence service, which records holds
with the code and the audit trail of `tailrace hold`.

SUPERSET_EVIDENCE_SOCKET    its Unix socket; without it the pages name the commands
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tailrace.dashboards.connections import DATABASE_USERS
from tailrace.evidence.service.client import EvidenceService, NoServiceError, ServiceError
from tailrace.retention import holds, selectors
from tailrace.retention.holds import Hold
from tailrace.retention.selectors import Selector, SelectorError
from tailrace_pages.page_errors import BadAddressError

SOCKET = "SUPERSET_EVIDENCE_SOCKET"
NOT_RUNNING = "The evidence service does not answer; `tailrace status` shows why. Nothing was recorded."
PREVIEW, PLACE = "preview", "place"
ACTIONS = (PREVIEW, PLACE)
STEPS = {
    holds.REQUEST: "{} requested the release. Another person must confirm it.",
    holds.CONFIRM: "{} confirmed the release: the hold has ended.",
}
"""The steps of a release, with the message after each."""
TEXT_LENGTH = 2000


class RefusedError(Exception):
    """The hold was not placed or released; the message is shown to the viewer."""


@dataclass(frozen=True)
class Wanted:
    """The fields of the form of a new hold, as they were typed."""

    case: str = ""
    selector: str = ""
    reason: str = ""
    previewed: str = ""
    """The selector of the preview that the person saw."""

    @property
    def is_previewed(self) -> bool:
        return self.selector == self.previewed

    def parsed(self) -> Selector:
        """Returns the selector. Raises RefusedError with what was expected."""
        try:
            return selectors.parse(self.selector)
        except SelectorError as error:
            raise RefusedError(sentence(error)) from None


def wanted(form: Mapping[str, str]) -> Wanted:
    """Returns the fields of a form. Raises BadAddressError for a text that is too long."""
    return Wanted(**{name: text(form, name) for name in ("case", "selector", "reason", "previewed")})


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

    Raises RefusedError.
    """
    given = {"case": form.case, "selector": form.selector, "reason": form.reason}
    return _answered(lambda: _service(environment).place_hold({**_who(actor, database), **given}))


def release(
    hold: Hold,
    chosen: str,
    reason: str,
    actor: str,
    database: str,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """Does a step of STEPS under the name `actor`; returns a message. Raises RefusedError."""
    given = {"hold": hold.id, "step": chosen, "reason": reason}
    _answered(lambda: _service(environment).release_hold({**_who(actor, database), **given}))
    return STEPS[chosen].format(actor)


def next_step(hold: Hold, name: str) -> str:
    """Returns the step that a person can do: a key of STEPS, or nothing."""
    if not hold.is_in_force or hold.is_requested_by(name):
        return ""
    return holds.CONFIRM if hold.requested_by else holds.REQUEST


def text(form: Mapping[str, str], name: str) -> str:
    """Returns a field without the space around it. Raises BadAddressError if it is too long."""
    found = form.get(name, "").strip()
    if len(found) > TEXT_LENGTH:
        raise BadAddressError(f"The {name} has {len(found)} characters; at most {TEXT_LENGTH} are possible.")
    return found


def sentence(error: Exception) -> str:
    message = str(error)
    return f"{message[:1].upper()}{message[1:]}."


def _one_of(form: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    if (found := form.get(name, "")) not in known:
        raise BadAddressError(f"{name}={found} does not exist; there are {', '.join(known)}.")
    return found


def _who(actor: str, database: str) -> dict[str, str]:
    return {"actor": actor, "audience": DATABASE_USERS[database].removeprefix("reader_")}


def _service(environment: Mapping[str, str]) -> EvidenceService:
    if not is_here(environment):
        raise RefusedError("This installation has no evidence service for the dashboards: use tailrace hold.")
    return EvidenceService(Path(environment[SOCKET]))


def _answered(ask) -> str:
    try:
        return ask()
    except NoServiceError as error:
        raise RefusedError(NOT_RUNNING) from error
    except ServiceError as error:
        raise RefusedError(f"{sentence(error)} Nothing was recorded.") from error
