"""Counts what reading a log costs: requests to its service, and the bytes of their answers.

A visit runs in one thread, so the counts of its thread are those of its log.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

PERIOD_SECONDS = 600.0
"""How often the puller reports costs. The first report follows the first visit."""


@dataclass
class Meter:
    """Counts of one thread, or of one log."""

    requests: int = 0
    """Requests and their repetitions. Those that a library makes on its own are not known (Kafka)."""
    received: int = 0
    """Bytes of answers, as the service sent them if it says so, else of their content."""

    def add(self, other: "Meter") -> None:
        self.requests += other.requests
        self.received += other.received


@dataclass(frozen=True)
class Cost:
    """What a log cost in a period; times in seconds since 1970 UTC."""

    since: float
    at: float
    requests: int
    received: int
    lines: int
    """Bytes of lines that were stored."""


class _Threads(threading.local):
    meter: Meter | None = None


_threads = _Threads()


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """Adds what this thread counts to a meter."""
    _threads.meter = meter
    try:
        yield
    finally:
        _threads.meter = None


def count(requests: int = 0, received: int = 0) -> None:
    """Counts requests and received bytes for the log that this thread visits, if it visits one."""
    if _threads.meter is not None:
        _threads.meter.requests += requests
        _threads.meter.received += received
