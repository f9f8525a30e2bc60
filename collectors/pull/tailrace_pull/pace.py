"""When a log is visited next: often while it grows, seldom while it is quiet, later still after a refusal."""

import random
from dataclasses import dataclass, field

MIN_SECONDS = 10.0
MAX_SECONDS = 50.0
"""A log is visited at least so often, because a minute without a census is unknown."""
MAX_BACKOFF_SECONDS = 600.0
JITTER = 0.1


@dataclass
class Pace:
    """The pace of one log. Times are seconds of a monotonic clock."""

    jitter: random.Random = field(default_factory=random.Random)
    seconds: float = MIN_SECONDS
    failures: int = 0

    def after_visit(self, has_grown: bool, is_complete: bool) -> float:
        """Returns the seconds until the next visit; 0 if lines are left."""
        self.failures = 0
        self.seconds = MIN_SECONDS if has_grown else min(MAX_SECONDS, self.seconds * 1.5)
        return self._spread(self.seconds) if is_complete else 0.0

    def after_failure(self) -> float:
        """Returns the seconds until the next attempt: they double."""
        self.failures += 1
        return self._spread(min(MAX_BACKOFF_SECONDS, MIN_SECONDS * 2.0**self.failures))

    def _spread(self, seconds: float) -> float:
        return seconds * self.jitter.uniform(1 - JITTER, 1 + JITTER)
