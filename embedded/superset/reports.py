"""Runs Superset's reports without Celery and Redis: a timer process, and one process for each due report.

Run with Superset's own Python and the environment that superset_config.py documents:

    reports.py timer PLAN     sends each report of PLAN when it is due; ends with SIGTERM
    reports.py send NAME      draws and sends one report now; on failure, exit code 1 and the reason

PLAN is JSON: `state` and `beat` are files to write, `reports` a list of `name`, `schedule` (crontab) and
`time_zone`. Delivery is at least once. If times passed while the timer did not run, the report is sent once.
A failed attempt is repeated after one minute and then with growing pauses, until the next scheduled time. A
report that is new or has a new schedule waits for its next time.
"""

import fcntl
import gc
import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from uuid import uuid4
from zoneinfo import ZoneInfo

from croniter import croniter

POLL_SECONDS = 5
FIRST_RETRY_SECONDS = 60
MAX_RETRY_SECONDS = 3600
CONNECT_SECONDS = 10
"""Timeout of a connection to the mail server."""
ANSWER_SECONDS = 300
"""Timeout of each answer of the mail server; smtplib has none."""

GRID_UNIT, ROW_GAP, WINDOW_FRAME = 8, 16, 160
"""Pixels of a height unit, between rows, and of the window's frame around the page."""
MAX_HEIGHT = 8000


class Timer:
    """The schedule and the state of all reports. Times are seconds since 1970."""

    def __init__(self, plan: dict, now: float | None = None) -> None:
        self.reports = plan["reports"]
        self._state_file, self._beat_file = Path(plan["state"]), Path(plan["beat"])
        self._state = json.loads(self._state_file.read_text()) if self._state_file.exists() else {}
        self._retries: dict[str, tuple[float, int]] = {}
        self.problems: dict[str, str] = {}
        now = time.time() if now is None else now
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
    """Returns the newest time of a report's schedule that is not in the future."""
    zone = ZoneInfo(report["time_zone"])
    # get_prev excludes the given time. Times of a schedule are whole seconds: one that equals `now` is due.
    return croniter(report["schedule"], datetime.fromtimestamp(math.floor(now) + 1, zone)).get_prev(float)


def _schedule_of(report: dict) -> list[str]:
    return [report["schedule"], report["time_zone"]]


def _replace(file: Path, content: object) -> None:
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(content))
    draft.replace(file)


def run_timer(plan_file: Path) -> None:
    """Sends due reports until SIGTERM. A report that is being drawn at that moment is drawn again later."""
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
        time.sleep(POLL_SECONDS)


def mail_server_problem() -> str:
    """Returns why the mail server does not accept a connection, or an empty text if it does.

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
    """Sends a report in a child process, whose 400 MB are then free. Returns the error, or an empty text."""
    child = subprocess.run(
        [sys.executable, __file__, "send", name], stderr=subprocess.PIPE, text=True, check=False
    )
    sys.stderr.write(child.stderr)
    lines = child.stderr.strip().splitlines() or [f"ended with {child.returncode}"]
    return lines[-1] if child.returncode else ""


def _end(*_: object) -> None:
    raise SystemExit(0)


def send(name: str) -> str:
    """Draws and sends one of Superset's reports. Returns the error, or an empty text."""
    from superset.app import create_app

    socket.setdefaulttimeout(ANSWER_SECONDS)
    with open(Path(os.environ["SUPERSET_HOME"]) / "reports.lock", "w") as lock, create_app().app_context():
        fcntl.flock(lock, fcntl.LOCK_EX)
        from superset.commands.report.execute import AsyncExecuteReportScheduleCommand
        from superset.extensions import db
        from superset.reports.models import ReportSchedule, ReportState
        from superset.utils.screenshots import BaseScreenshot

        BaseScreenshot.get_screenshot = drawn_again(BaseScreenshot.get_screenshot)
        report = db.session.query(ReportSchedule).filter_by(name=name).one_or_none()
        if report is None:
            return f"Superset has no report called {name}"
        if report.last_state == ReportState.WORKING:  # this process has the lock: the other was killed
            report.last_state = ReportState.NOOP
        report.custom_height = height_of(report.dashboard.position)
        db.session.commit()
        now = datetime.now(UTC).replace(tzinfo=None)
        try:
            AsyncExecuteReportScheduleCommand(str(uuid4()), report.id, now).run()
        except Exception as error:  # errors of the browser, the mail server or a chart
            return " ".join(str(error).split()) or type(error).__name__
    return ""


def drawn_again(draw: Callable) -> Callable:
    """Returns a function that draws a second time, with a new browser, if the first attempt fails.

    A timeout, a crash of the browser or a restart of Superset is often over by then. Superset itself would
    mail the error to the report's owner. A page without a host is that of a wrong certificate: it stays.
    """
    from selenium.common.exceptions import InvalidCookieDomainException, TimeoutException, WebDriverException
    from urllib3.exceptions import HTTPError

    def attempt(*arguments: object, **named: object) -> object:
        try:
            return draw(*arguments, **named)
        except TimeoutException as error:  # its message is empty
            raise TimeoutException("the dashboard or its charts did not load in time") from error

    @wraps(draw)
    def drawn(*arguments: object, **named: object) -> object:
        try:
            return attempt(*arguments, **named)
        except InvalidCookieDomainException:
            raise
        except (WebDriverException, HTTPError) as error:
            print("drawn again after:", str(error).partition("\n")[0], file=sys.stderr, flush=True)
        gc.collect()  # ends the browser of the first attempt, if Superset has not
        return attempt(*arguments, **named)

    return drawn


def height_of(position: dict) -> int:
    """Returns the height of a dashboard in pixels. A screenshot omits everything below the window's edge."""
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
