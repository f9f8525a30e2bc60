"""Limits the requests of each token or client: a bucket of requests that fills again at a constant rate."""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

MOST_KEYS = 10_000
"""Buckets that are kept. The longest unused one is dropped first: it is full, unless there are more
clients."""


@dataclass(frozen=True)
class Decision:
    """Whether a request is allowed, and what is left."""

    allowed: bool
    limit: int
    """Requests per minute."""
    remaining: int
    retry_after: int
    """Whole seconds until the next request is allowed; 0 if this one is."""


class RateLimiter:
    """Allows `per_minute` requests of each key at once, and as many in each minute after. Thread-safe."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        """`clock` returns seconds that never decrease, such as time.monotonic."""
        self._limit = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> Decision:
        """Takes one request from the bucket of a key, if there is one."""
        with self._lock:
            left, now = self._filled(key)
            allowed = left >= 1
            self._put(key, left - 1 if allowed else left, now)
        return self._decision(allowed, left)

    def look(self, key: str) -> Decision:
        """Returns the decision that `take` would make, and takes nothing."""
        with self._lock:
            left, _ = self._filled(key)
        return self._decision(left >= 1, left)

    def _filled(self, key: str) -> tuple[float, float]:
        now = self._clock()
        left, at = self._buckets.get(key, (float(self._limit), now))
        return min(self._limit, left + (now - at) * self._limit / 60), now

    def _put(self, key: str, left: float, now: float) -> None:
        self._buckets[key] = (left, now)
        self._buckets.move_to_end(key)
        while len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)

    def _decision(self, allowed: bool, left: float) -> Decision:
        if allowed:
            return Decision(True, self._limit, int(left - 1), 0)
        return Decision(False, self._limit, 0, max(1, math.ceil((1 - left) * 60 / self._limit)))
