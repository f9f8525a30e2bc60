"""Superset's reports without Celery and Redis: one process that waits, and one for each report that is due.

Run with Superset's own Python and the environment that superset_config.py documents:

    reports.py timer PLAN     sends each report of PLAN when it is due; ends with SIGTERM
    reports.py send NAME      draws and sends one report now; exit code 1 and a line why if that failed

PLAN is JSON: `state` and `beat` are files to write, `reports` a list of `name`, `schedule` (crontab) and
`time_zone`. At least once: a time that passed while nothing ran is made up for, once; an attempt that failed
is made again, after a minute and then ever later, until the next time comes. A report that is new, or whose
schedule is, waits for its next time.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4
from zoneinfo import ZoneInfo

from croniter import croniter

LOOK_SECONDS = 5
FIRST_RETRY_SECONDS = 60
MAX_RETRY_SECONDS = 3600
CONNECT_SECONDS = 10
"""For a connection to the mail server."""

GRID_UNIT, ROW_GAP, WINDOW_FRAME = 8, 16, 160
"""Pixels: of a unit of height, between rows, and of a window that the page does not get."""
MAX_HEIGHT = 8000


class Timer:
    """What each report waits for. Times are seconds since 1970."""

    def __init__(self, plan: dict) -> None:
        self.reports = plan["reports"]
        self._state_file, self._beat_file = Path(plan["state"]), Path(plan["beat"])
        self._state = json.loads(self._state_file.read_text()) if self._state_file.exists() else {}
        self._retries: dict[str, tuple[float, int]] = {}
        self.problems: dict[str, str] = {}
        now = time.time()
        for report in self.reports:
            if self._state.get(report["name"], {}).get("schedule") != _schedule_of(report):
                self._remember(report, now)

    def due(self, now: float) -> list[dict]:
        return [report for report in self.reports if self._is_due(report, now)]

    def _is_due(self, report: dict, now: float) -> bool:
        name = report["name"]
        not_before, _ = self._retries.get(name, (0.0, 0))
        return now >= not_before and last_time(report, now) > self._state[name]["sent_for"]

    def sent(self, report: dict, now: float) -> None:
        self._retries.pop(report["name"], None)
        self.problems.pop(report["name"], None)
        self._remember(report, last_time(report, now))

    def failed(self, report: dict, now: float, reason: str) -> None:
        _, failures = self._retries.get(report["name"], (0.0, 0))
        pause = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2**failures)
        self._retries[report["name"]] = (now + pause, failures + 1)
        self.problems[report["name"]] = reason

    def beat(self, now: float) -> None:
        _replace(self._beat_file, {"at": now, "problems": self.problems})

    def _remember(self, report: dict, sent_for: float) -> None:
        self._state[report["name"]] = {"schedule": _schedule_of(report), "sent_for": sent_for}
        _replace(self._state_file, self._state)


def last_time(report: dict, now: float) -> float:
    """The newest time of a report's schedule that is not in the future."""
    zone = ZoneInfo(report["time_zone"])
    # get_prev is strictly before: a time that is now has come.
    return croniter(report["schedule"], datetime.fromtimestamp(now + 1, zone)).get_prev(float)


def _schedule_of(report: dict) -> list[str]:
    return [report["schedule"], report["time_zone"]]


def _replace(file: Path, content: object) -> None:
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(content))
    draft.replace(file)


def run_timer(plan_file: Path) -> None:
    """Sends what is due until it must end; a report that is being drawn then is drawn again later."""
    timer = Timer(json.loads(plan_file.read_text()))
    signal.signal(signal.SIGTERM, _end)
    while True:
        timer.beat(time.time())
        for report in timer.due(time.time()):
            began = time.time()
            if problem := mail_server_problem() or _sent_by_a_child(report["name"]):
                timer.failed(report, time.time(), problem)
                print(f"{report['name']}: {problem}", flush=True)
            else:
                timer.sent(report, began)
                print(f"{report['name']}: sent in {time.time() - began:.0f} s", flush=True)
            timer.beat(time.time())
        time.sleep(LOOK_SECONDS)


def mail_server_problem() -> str:
    """Why the mail server does not accept a connection; empty if it does.

    Drawing a report takes 20 CPU-seconds, which an attempt without a mail server would waste.
    """
    mail = json.loads(Path(os.environ["SUPERSET_MAIL_FILE"]).read_text())
    place = (mail["host"], mail["port"])
    try:
        socket.create_connection(place, timeout=CONNECT_SECONDS).close()
    except OSError as error:
        return f"the mail server {mail['host']}:{mail['port']} cannot be reached: {error}"
    return ""


def _sent_by_a_child(name: str) -> str:
    """Why a report could not be sent; empty if it was. A process of its own gives its 400 MB back."""
    child = subprocess.run(
        [sys.executable, __file__, "send", name], stderr=subprocess.PIPE, text=True, check=False
    )
    sys.stderr.write(child.stderr)
    lines = child.stderr.strip().splitlines() or [f"ended with {child.returncode}"]
    return lines[-1] if child.returncode else ""


def _end(*_: object) -> None:
    raise SystemExit(0)


def send(name: str) -> str:
    """Draws and sends a report of Superset's; returns why it could not, or nothing."""
    from superset.app import create_app

    with open(Path(os.environ["SUPERSET_HOME"]) / "reports.lock", "w") as lock, create_app().app_context():
        fcntl.flock(lock, fcntl.LOCK_EX)
        from superset.commands.report.execute import AsyncExecuteReportScheduleCommand
        from superset.extensions import db
        from superset.reports.models import ReportSchedule, ReportState

        report = db.session.query(ReportSchedule).filter_by(name=name).one_or_none()
        if report is None:
            return f"Superset has no report called {name}"
        if report.last_state == ReportState.WORKING:  # we hold the lock: the process that worked was killed
            report.last_state = ReportState.NOOP
        report.custom_height = height_of(report.dashboard.position)
        db.session.commit()
        now = datetime.now(UTC).replace(tzinfo=None)
        try:
            AsyncExecuteReportScheduleCommand(str(uuid4()), report.id, now).run()
        except Exception as error:  # whatever a browser, a mail server or a chart can do
            return " ".join(str(error).split()) or type(error).__name__
    return ""


def height_of(position: dict) -> int:
    """Pixels that a dashboard takes: what is below the window's edge would not be on the page."""
    rows = [node for node in position.values() if isinstance(node, dict) and node.get("type") == "ROW"]
    heights = [max(position[cell]["meta"]["height"] for cell in row["children"]) for row in rows]
    return min(MAX_HEIGHT, WINDOW_FRAME + sum(GRID_UNIT * height + ROW_GAP for height in heights))


def main(arguments: list[str]) -> None:
    match arguments:
        case ["timer", file]:
            run_timer(Path(file))
        case ["send", name]:
            if problem := send(name):
                sys.exit(problem)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
