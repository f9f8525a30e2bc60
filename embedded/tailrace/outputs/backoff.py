"""How long a receiver that failed is left alone: as long as it asks for, or a time that doubles with jitter.

`Backoff` is the state of one channel. The threads that send alerts and results of searches to it share it,
and no other channel waits for it.
"""

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from tailrace.outputs.record import FAILED, Outcome
from tailrace.retry_pause import doubled

JITTER = 0.25
"""The part by which a pause is longer or shorter at most, so that channels do not return together."""
LONGEST_WISH_SECONDS = 3600
"""A receiver that asks for more is tried after this time."""
UNTRIED, WORKING, FAILING = "untried", "working", "failing"

Spread = Callable[[float, float], float]
"""A number between two others, as random.uniform."""


def pause_seconds(failures: int, first: float, longest: float, spread: Spread = random.uniform) -> float:
    """Returns the pause after the failure with this number, from 1 on; seconds."""
    return doubled(first, longest, failures) * spread(1 - JITTER, 1 + JITTER)


def wished_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Returns the seconds of the header Retry-After (RFC 9110), None without one or with another text.

    `headers` finds names in any case; `now`: seconds since 1970, of a date.
    """
    text = (headers.get("Retry-After") or "").strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        seconds = float(text)
    else:
        try:
            at = parsedate_to_datetime(text)
            seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return min(max(0.0, seconds), LONGEST_WISH_SECONDS)


@dataclass(frozen=True)
class ChannelState:
    """What is known about a channel. Times in seconds since 1970."""

    state: str
    """untried since the start of the service, working, or failing."""
    since: float
    failures: int = 0
    """Failed attempts in a row."""
    retry_at: float = 0.0
    """When a channel that is paused is tried again; 0 if it is not paused."""
    detail: str = ""
    """The reason of the last failure."""


class Backoff:
    """The pauses of one channel. Methods may be called by any thread.

    A pause begins with the failure number `patience` in a row, or with any failure whose receiver asks for
    one.
    `first` and `longest` in seconds; `clock`: seconds since 1970.
    """

    def __init__(
        self,
        first: float,
        longest: float,
        patience: int = 1,
        clock: Callable[[], float] = time.time,
        spread: Spread = random.uniform,
    ) -> None:
        self._first, self._longest, self._patience = first, longest, patience
        self._clock, self._spread = clock, spread
        self._lock = threading.Lock()
        self._state = ChannelState(UNTRIED, clock())

    @property
    def state(self) -> ChannelState:
        return self._state

    def wait_seconds(self) -> float:
        """Returns how long the channel is still paused; 0 if it is not."""
        return max(0.0, self._state.retry_at - self._clock())

    def pause_of(self, failures: int, first: float, longest: float) -> float:
        """Returns the pause of one message after this number of failures, in seconds."""
        return pause_seconds(failures, first, longest, self._spread)

    def record(self, outcome: Outcome) -> None:
        """Notes the outcome of an attempt. A refusal is an answer, so the receiver works."""
        with self._lock:
            self._state = self._after(outcome, self._state, self._clock())

    def _after(self, outcome: Outcome, before: ChannelState, now: float) -> ChannelState:
        if outcome.outcome != FAILED:
            since = before.since if before.state == WORKING else now
            return ChannelState(WORKING, since)
        failures = before.failures + 1
        wait = 0.0
        if failures >= self._patience:
            number = failures - self._patience + 1
            wait = pause_seconds(number, self._first, self._longest, self._spread)
        wait = max(wait, outcome.retry_after or 0.0)
        since = before.since if before.state == FAILING else now
        # Another thread may have failed without a wish meanwhile: its shorter pause does not end this one.
        retry_at = max(before.retry_at, now + wait) if wait else before.retry_at
        return ChannelState(FAILING, since, failures, retry_at, outcome.detail)
