"""The limit of every wait in tests, and the warning about a long one."""

import warnings

LIMIT_SECONDS = 600
"""For a condition, an answer or the end of a process. At a load of 70 a process gets a thirtieth of its usual
time. Only a failing test waits so long."""
TEST_SECONDS = 4 * LIMIT_SECONDS
"""For a test with components, which start and restart several times in it."""
LONG_SECONDS = 150
"""A longer wait is reported, as it may be a stall that the limit permits."""


class LongWaitWarning(UserWarning):
    """Names what a test waited for, and how long. pytest prints it at the end of the run."""


def warn_if_long(seconds: float, what: str) -> None:
    """Warns after a wait of more than LONG_SECONDS, at the place that called the function that waited."""
    if seconds > LONG_SECONDS:
        warnings.warn(f"waited {seconds:.0f} s for {what}", LongWaitWarning, stacklevel=3)
