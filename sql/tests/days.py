"""The UTC day of tests that ask for "today" while the suite may run past midnight."""

import time
from datetime import UTC, datetime, timedelta


def now_before_midnight(least: timedelta = timedelta(minutes=1)) -> datetime:
    """Returns the time in whole seconds, after it waited for the next day if less than `least` is left."""
    now = datetime.now(UTC).replace(microsecond=0)
    midnight = now.replace(hour=0, minute=0, second=0) + timedelta(days=1)
    if midnight - now >= least:
        return now
    time.sleep((midnight - now).total_seconds())
    return now_before_midnight(least)
