"""A CloudWatch Logs that keeps events as the documentation of the real one says, and misbehaves as users
report of it: events become visible late, also by hours, and out of order, pages are empty or short, and an
event may be listed twice.

It was written from API version 2014-03-28, not tested against the service.
"""

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from botocore import xform_name

from e2e.pulling.service_http import FaultError

MAX_EVENT_BYTES = 262_144 - 26
FAULTS = (
    ("ThrottlingException", 400),
    ("ServiceUnavailableException", 503),
    ("InternalFailure", 500),
    ("ExpiredTokenException", 400),
    ("AccessDeniedException", 400),
)


@dataclass
class Event:
    """Times are milliseconds since 1970 UTC."""

    stream: str
    timestamp: int
    ingested: int
    number: int
    message: str
    is_visible: bool = True
    is_withheld: bool = False
    """Whether it stays invisible until the end of the misbehaviour."""

    def answer(self) -> dict[str, Any]:
        return {
            "logStreamName": self.stream,
            "timestamp": self.timestamp,
            "ingestionTime": self.ingested,
            "message": self.message,
            "eventId": f"{self.timestamp:032}{self.number:024}",
        }


class FakeCloudWatch:
    """The events of one log group; `handle` answers requests. Thread-safe."""

    def __init__(
        self,
        seed: int,
        page_events: int,
        fault_rate: float = 0,
        late_rate: float = 0,
        withheld_rate: float = 0,
    ) -> None:
        self.calls = 0
        self.between_calls: Callable[[], None] = lambda: None
        """What happens between two requests."""
        self.is_missing = False
        """Whether the group does not exist."""
        self._events: list[Event] = []
        self._random = random.Random(seed)
        self._page_events = page_events
        self._fault_rate = fault_rate
        self._late_rate = late_rate
        self._withheld_rate = withheld_rate
        self._lock = threading.RLock()

    def put(self, stream: str, timestamp: int, message: str, ingested: int) -> None:
        """Stores a message, in several events if it is too long. Some are not visible at first."""
        with self._lock:
            is_withheld = len(message) < MAX_EVENT_BYTES // 4 and self._random.random() < self._withheld_rate
            is_visible = not is_withheld and self._random.random() >= self._late_rate
            for part in split(message):
                number = len(self._events)
                self._events.append(Event(stream, timestamp, ingested, number, part, is_visible, is_withheld))
                is_visible = is_visible and self._random.random() >= self._late_rate

    def reveal(self, chance: float = 1.0) -> None:
        """Makes late events visible; the parts of a message in order."""
        with self._lock:
            hidden: set[tuple[str, int]] = set()
            for event in self._events:
                is_next = (event.stream, event.timestamp) not in hidden and not event.is_withheld
                event.is_visible = event.is_visible or (is_next and self._random.random() < chance)
                if not event.is_visible:
                    hidden.add((event.stream, event.timestamp))

    def settle(self, releases: bool = True) -> None:
        """Ends the misbehaviour: no more faults, no late events, and nothing happens between calls. Events
        that are withheld remain so if it does not release them."""
        self._fault_rate = self._late_rate = self._withheld_rate = 0
        self.between_calls = lambda: None
        for event in self._events:
            event.is_withheld = event.is_withheld and not releases
        self.reveal()

    def handle(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.calls += 1
            self.between_calls()
            if self._random.random() < self._fault_rate:
                code, status = self._random.choice(FAULTS)
                raise FaultError(code, status=status)
            return getattr(self, f"_{xform_name(operation)}")(parameters)

    def _filter_log_events(self, asked: dict[str, Any]) -> dict[str, Any]:
        if self.is_missing:
            raise FaultError("ResourceNotFoundException", "The specified log group does not exist.")
        after = self._key_of(asked["nextToken"]) if "nextToken" in asked else (-1, -1, -1)
        found = sorted(
            (event for event in self._events if event.is_visible and self._is_asked(event, asked)), key=_key
        )
        left = [event for event in found if _key(event) > after]
        page = left[: self._random.choice((0, 1, self._page_events, self._page_events))]
        token = None
        if len(page) < len(left) or self._random.random() < 0.2:
            token = f"t/{self._token(page[-1]) if page else asked.get('nextToken', 't/')[2:]}"
        repeated = page[-1:] if page and self._random.random() < 0.1 else []
        return {"events": [event.answer() for event in (*page, *repeated)], "nextToken": token}

    def _is_asked(self, event: Event, asked: dict[str, Any]) -> bool:
        if asked.keys() & {"logStreamNames", "filterPattern"}:
            raise FaultError("InvalidParameterException", "the fake does not have it")
        is_in_time = asked.get("startTime", 0) <= event.timestamp <= asked.get("endTime", event.timestamp)
        return is_in_time and event.stream.startswith(asked.get("logStreamNamePrefix", ""))

    def _token(self, event: Event) -> str:
        return ":".join(map(str, _key(event)))

    def _key_of(self, token: str) -> tuple[int, ...]:
        if not token.startswith("t/"):
            raise FaultError("InvalidParameterException", "The specified nextToken is invalid.")
        return tuple(map(int, token[2:].split(":"))) if token != "t/" else (-1, -1, -1)


def _key(event: Event) -> tuple[int, int, int]:
    return event.timestamp, event.ingested, event.number


def split(message: str) -> Iterator[str]:
    """Yields parts of at most the bytes of an event; no character is cut."""
    content = message.encode()
    while len(content) > MAX_EVENT_BYTES:
        end = MAX_EVENT_BYTES
        while content[end] & 0xC0 == 0x80:
            end -= 1
        yield content[:end].decode()
        content = content[end:]
    yield content.decode()
