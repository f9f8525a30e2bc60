"""Which alerts a channel receives, and how often."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailrace.alerts.triage import LEVELS


@dataclass(frozen=True)
class Selection:
    """The alerts that a channel receives, and how often. Times in seconds."""

    min_level: str = "medium"
    rules: Sequence[str] = ()
    """Ids or titles of rules; empty: all."""
    repeat_interval: int = 3600
    """The minimum interval between two deliveries of one alert whose count grows."""
    retry_initial: int = 5
    retry_max: int = 900
    retry_timeout: int = 86_400
    """The time after which an undelivered alert is given up and recorded as such."""

    @property
    def levels(self) -> Sequence[str]:
        return LEVELS[LEVELS.index(self.min_level) :]
