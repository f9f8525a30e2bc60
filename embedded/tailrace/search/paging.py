"""The cursor of a page: the time and the id of its last event. The next page has what is older.

A page costs the same whichever it is, and new events do not move it.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tailrace.search.errors import SearchError

_TEXT = re.compile(r"([0-9]{1,17})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Cursor:
    """A place in the order of time and id, the latest first."""

    micros: int
    """The time, in microseconds since 1970 UTC."""
    id: str
    """A UUID, in lower case with dashes."""

    def text(self) -> str:
        """Returns the opaque form, of letters, digits, `-` and `_`."""
        return base64.urlsafe_b64encode(f"{self.micros}.{self.id}".encode()).decode().rstrip("=")

    @property
    def time(self) -> datetime:
        return time_of(self.micros)


def cursor(text: str) -> Cursor:
    """Returns the cursor of its opaque form. Raises SearchError."""
    try:
        decoded = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode(
            "ascii"
        )
    except (ValueError, binascii.Error):
        decoded = ""
    found = _TEXT.fullmatch(decoded)
    if found is None:
        raise SearchError("the cursor is not one of a page; begin with the first page")
    return Cursor(int(found[1]), found[2])


def time_of(micros: int) -> datetime:
    """Returns the UTC time of microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=micros)


def micros_of(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(microseconds=1)
