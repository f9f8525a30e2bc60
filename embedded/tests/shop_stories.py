"""The two days of the demo's shop at some times. Each is generated once, for all modules."""

from datetime import UTC, datetime
from functools import cache

from tailrace.demo.shop import story


def seconds_of(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


AFTER_MIDNIGHT = seconds_of("2026-11-25T00:01:00")
BEFORE_THE_DROP = seconds_of("2026-11-25T14:09:00")

story_at = cache(story.write)
