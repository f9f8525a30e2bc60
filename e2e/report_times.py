"""Goes through the times of one report with the timer of embedded/superset/reports.py.

Run with Superset's Python and that directory in PYTHONPATH; the argument is the timer's PLAN as JSON, with
one report for each minute. Prints, as JSON, at which moments the report is due.
"""

import json
import sys
import time

from reports import Timer

MINUTE = 60


def main(plan: dict) -> dict[str, bool]:
    (report,) = plan["reports"]

    def is_due(timer: Timer, now: float) -> bool:
        return timer.due(now) == [report]

    before = time.time()
    timer = Timer(plan)
    first = (time.time() // MINUTE + 2) * MINUTE
    due = {"new": is_due(timer, before), "at its time": is_due(timer, first)}
    timer.failed(report, first, "refused")
    due |= {
        "just after a failure": is_due(timer, first + 1),
        "after a failure and a restart": is_due(Timer(plan), first + 1),
        "a minute after a failure": is_due(timer, first + MINUTE),
    }
    timer.sent(report, first)
    return due | {
        "sent": is_due(timer, first + 1),
        "sent, and restarted": is_due(Timer(plan), first + 1),
        "at its next time": is_due(timer, first + MINUTE),
        "at its next time after a restart": is_due(Timer(plan), first + MINUTE),
    }


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
