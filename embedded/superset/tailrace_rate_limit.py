"""The storage of Superset's request limits in memory, safe with several threads.

`MemoryStorage` of limits 5.8.0 replaces its timer and starts it without a lock. If two requests do that at
the same time, one thread starts the timer of the other, and its request ends with HTTP 500 ("threads can only
be started once"). superset_config.py uses this storage if there is no Redis.
"""

import threading
from typing import ClassVar

from limits.storage import MemoryStorage

SCHEME = "tailrace-memory"


class LockedMemoryStorage(MemoryStorage):
    """A MemoryStorage that starts its timer under a lock. Importing the module registers SCHEME."""

    STORAGE_SCHEME: ClassVar[list[str]] = [SCHEME]

    def __init__(self, *arguments, **named) -> None:
        self._timer_lock = threading.Lock()
        super().__init__(*arguments, **named)

    def _MemoryStorage__schedule_expiry(self) -> None:  # noqa: N802 - the private name in limits
        with self._timer_lock:
            super()._MemoryStorage__schedule_expiry()
