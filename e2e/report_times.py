"""Goes through the times of one report with the timer of embedded/superset/reports.py.

Run with Superset's Python and that directory in PYTHONPATH; the argument is the timer's PLAN as JSON, with
one report for each minute. Prints, as JSON, at which moments the report is due.
"""

import json
import sys

from reports import Timer

MINUTE = 60
START = 1_790_000_000.5
"""Seconds since 1970."""


def main(plan: dict) -> dict[str, bool]:
    (report,) = plan["reports"]

    def is_due(timer: Timer, now: float) -> bool:
        return timer.due(now) == [report]

    first = (START // MINUTE + 1) * MINUTE
    timer = Timer(plan, START)
    due = {
        "new": is_due(timer, START),
        "just before its time": is_due(timer, first - 0.1),
        "at its time": is_due(timer, first),
    }
    timer.failed(report, first, "refused")
    due |= {
        "just after a failure": is_due(timer, first + 1),
        "after a failure and a restart": is_due(Timer(plan, first + 1), first + 1),
        "a minute after a failure": is_due(timer, first + MINUTE),
    }
    timer.sent(report, first)
    return due | {
        "sent": is_due(timer, first + 1),
        "sent, and restarted": is_due(Timer(plan, first + 1), first + 1),
        "at its next time": is_due(timer, first + MINUTE),
        "at its next time after a restart": is_due(Timer(plan, first + MINUTE), first + MINUTE),
    }


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
