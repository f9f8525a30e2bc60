"""Reports by mail: Superset behind TLS draws a dashboard in a real browser, for a mail server of ours."""

import http.client
import json
import os
import re
import sqlite3
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from e2e import wait_for_idle
from e2e.limits import LIMIT_SECONDS
from e2e.receivers import mail_receiver
from e2e.report_mail import page_of
from e2e.secured_stack import START_SECONDS, answer, secured, strangers
from e2e.slow_superset import slow_superset
from e2e.stack import wait_until
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.credentials.certificates import Certificates
from tailrace.dashboards import asset_files
from tailrace.reports import superset_reports
from tailrace_local.cli import main
from tailrace_local.components.reports import Reports

FIRST_PORT = int(os.environ.get("REPORTS_FIRST_PORT", "23640"))
MAIL_PORT = FIRST_PORT + 10
SLOW_PORT = FIRST_PORT + 11
REPORT_SECONDS = START_SECONDS + superset_reports.WORKING_SECONDS
"""The start of the stack, and the two attempts at a report that the product makes."""
SLOW_SECONDS = 20
"""More than the 3 + 10 seconds that Superset waits by default for a dashboard and its charts to appear."""
LINE_COLOUR = (0x00, 0x72, 0xB2)
"""Of p95, by the dashboard's own file."""
TIMES = Path(__file__).with_name("report_times.py")
EACH_MINUTE = "* * * * *"
NEVER = "0 0 30 2 *"

LAST_WEEK = """
    INSERT INTO tailrace.query_events
        (event_id, cluster, instance, source, log, event_time, user, database, query_id, rule_set, verb,
            query_time, weight)
    SELECT generateUUIDv4(), 'shop', 'db-1', 'slowlog', '/slow.log',
        toStartOfWeek(now('UTC') - INTERVAL 7 DAY, 1) + INTERVAL 300 * number SECOND,
        'web', 'shop', 1 + number % 5, 'r', 'SELECT', 0.1 + number % 7, 1
    FROM numbers(2000)"""

CONFIG = """
dashboards: https://tailrace.example.com
mail: {{host: 127.0.0.1, port: {port}, security: none, from: tailrace@example.com}}
reports:
  - {{name: weekly_compliance, to: [audit@example.com, ciso@example.com], schedule: "{schedule}"}}
  - {{name: developers_digest, to: [dev@example.com], time_zone: Europe/Berlin}}
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def stack(directory):
    file = directory / "reports.yaml"
    file.write_text(CONFIG.format(port=MAIL_PORT, schedule="0 6 * * 1"))
    components = ("clickhouse", "superset", "reports")
    with secured(directory / "home", FIRST_PORT, components, reports_config=str(file)) as made:
        yield made


@pytest.fixture
def tailrace(stack, monkeypatch, capsys):
    """Runs a command of the stack's installation; returns its exit code and what it printed."""
    for name, value in stack.settings.environment().items():
        monkeypatch.setenv(name, value)

    def run(*words: str) -> tuple[int, str]:
        code = main(words)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


@pytest.mark.timeout(REPORT_SECONDS)
def test_a_report_that_is_sent_now_is_a_dashboard_on_paper(stack, tailrace):
    """Superset closes the first connection for the page, and answers the second time as on a busy machine."""
    stack.clickhouse().execute(LAST_WEEK)
    with mail_receiver(MAIL_PORT) as receiver, slow_superset(stack, SLOW_PORT, SLOW_SECONDS) as slow:
        code, said = tailrace("reports", "send", "developers_digest")
        assert (code, "sent to dev@example.com" in said) == (0, True), said
    assert slow.closed == 1 and slow.delayed, "the second attempt waited"
    (mail,) = receiver.mails
    assert mail["Subject"] == "[Tailrace] Weekly performance report"
    assert (mail["From"], mail["Auto-Submitted"]) == ("tailrace@example.com", "auto-generated")
    text = mail.get_body(("html",)).get_content()
    assert "https://tailrace.example.com/superset/dashboard/" in text
    assert "load and latency of slow queries" in text, "the description says what it is"
    picture = page_of(mail)
    if "SCREENSHOTS" in os.environ:
        picture.save(Path(os.environ["SCREENSHOTS"]) / "developers-digest.png")
    assert picture.width == superset_reports.WIDTH
    assert abs(picture.height - _height("developers_digest")) < 40, "all of it, and no more"
    assert _pixels(picture, LINE_COLOUR) > 300, "the charts' lines are drawn"


@pytest.mark.timeout(REPORT_SECONDS + 3 * LIMIT_SECONDS)
def test_each_time_it_is_due_it_is_sent_once_although_mail_server_and_timer_fail(stack, tailrace, directory):
    (directory / "reports.yaml").write_text(CONFIG.format(port=MAIL_PORT, schedule=EACH_MINUTE))
    drawn = _drawn(stack)
    assert drawn > 0, "the report of the first test"
    code, said = tailrace("restart", "reports")
    assert code == 0, said
    await_refused(stack)
    stack.kill("reports")
    await_refused(stack)
    assert _drawn(stack) == drawn, "no report is drawn while the mail server is away"
    began = time.time()
    # The first test draws a whole dashboard.
    with first_row_alone(stack, "weekly-compliance"), mail_receiver(MAIL_PORT) as receiver:
        wait_until(lambda: receiver.mails, "the mail once the server is there")
        wait_until(lambda: stack.status("reports").is_healthy, "the status to be well again")
        minutes = (time.time() - began) / 60
        assert len(receiver.mails) <= minutes + 2, "not more often than the schedule says"
    assert {mail["Subject"] for mail in receiver.mails} == {"[Tailrace] Weekly compliance report"}, (
        "the other one is not due"
    )


def await_refused(stack) -> None:
    wait_until(lambda: "refused" in stack.status("reports").reason, "the failure to be reported")


@contextmanager
def first_row_alone(stack, slug: str) -> Iterator[None]:
    """Takes all other rows from Superset's dashboard in the block; its API refuses the mark of our assets."""
    with _metadata(stack) as metadata:
        number, written = metadata.execute(
            "SELECT id, position_json FROM dashboards WHERE slug = ?", (slug,)
        ).fetchone()
        charts = metadata.execute(
            "SELECT dashboard_id, slice_id FROM dashboard_slices WHERE dashboard_id = ?", (number,)
        ).fetchall()
    position = json.loads(written)
    del position["GRID_ID"]["children"][1:]
    kept = {name: node for name, node in position.items() if _is_in(position, name)}
    shown = {each["meta"]["chartId"] for name, each in kept.items() if name.startswith("CHART-")}
    _set_layout(stack, number, json.dumps(kept), [row for row in charts if row[1] in shown])
    try:
        yield
    finally:
        _set_layout(stack, number, written, charts)


def _is_in(position: dict, name: str) -> bool:
    """Whether a part of the layout is no part of a removed row."""
    parents = position[name].get("parents", []) if isinstance(position[name], dict) else []
    return all(child in position[parent]["children"] for parent, child in pairwise([*parents, name]))


def _set_layout(stack, dashboard: int, position: str, charts: list[tuple[int, int]]) -> None:
    assert charts, "the layout has a chart"
    with _metadata(stack) as metadata:
        metadata.execute("UPDATE dashboards SET position_json = ? WHERE id = ?", (position, dashboard))
        metadata.execute("DELETE FROM dashboard_slices WHERE dashboard_id = ?", (dashboard,))
        metadata.executemany("INSERT INTO dashboard_slices (dashboard_id, slice_id) VALUES (?, ?)", charts)


@contextmanager
def _metadata(stack) -> Iterator[sqlite3.Connection]:
    """One transaction of Superset's database."""
    file = stack.home.data("superset") / "superset.db"
    with closing(sqlite3.connect(file, timeout=LIMIT_SECONDS)) as metadata, metadata:
        yield metadata


def test_a_report_is_due_once_each_time_and_again_after_a_restart(stack, tmp_path):
    component = Reports(stack.settings, stack.home)
    plan = {
        "state": str(tmp_path / "sent.json"),
        "beat": str(tmp_path / "beat.json"),
        "reports": [{"name": "each minute", "schedule": EACH_MINUTE, "time_zone": "Europe/Berlin"}],
    }
    told = subprocess.run(
        [component.superset.python(), TIMES, json.dumps(plan)],
        env={**os.environ, **component.environment()},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(told.stdout) == {
        "new": False,
        "just before its time": False,
        "at its time": True,
        "just after a failure": False,
        "after a failure and a restart": True,
        "a minute after a failure": True,
        "sent": False,
        "sent, and restarted": False,
        "at its next time": True,
        "at its next time after a restart": True,
    }


@pytest.mark.timeout(START_SECONDS + LIMIT_SECONDS)
def test_what_superset_has_is_what_the_file_says(stack, tailrace, directory):
    (directory / "reports.yaml").write_text(CONFIG.format(port=MAIL_PORT, schedule=NEVER))
    component = Reports(stack.settings, stack.home)
    superset = component.superset.client()
    superset_reports.apply(superset, component.config())
    assert superset_reports.apply(superset, component.config()) == [], "doing it twice changes nothing"
    found = {each["name"]: each for each in superset.every(superset_reports.REPORTS)}
    assert found.keys() == {"Tailrace: Weekly compliance report", "Tailrace: Weekly performance report"}
    compliance = superset.get(
        f"{superset_reports.REPORTS}{found['Tailrace: Weekly compliance report']['id']}"
    )["result"]
    assert [owner["last_name"] for owner in compliance["owners"]] == ["Compliance"]

    config = component.config()
    only = superset_reports.ReportsConfig(config.dashboards, config.server, config.subscriptions[:1])
    assert superset_reports.apply(superset, only) == ["report Tailrace: Weekly performance report: removed"]
    assert superset_reports.apply(superset, config) == ["report Tailrace: Weekly performance report: created"]


def test_the_list_says_who_gets_what_and_when(stack, tailrace, directory):
    (directory / "reports.yaml").write_text(CONFIG.format(port=MAIL_PORT, schedule="30 7 * * 1-5"))
    code, said = tailrace("reports", "list")
    assert code == 0
    assert re.search(r"weekly_compliance +30 7 \* \* 1-5  UTC +audit@example.com, ciso@example.com", said)
    assert re.search(r"developers_digest +0 6 \* \* 1  Europe/Berlin +dev@example.com", said)


def test_superset_is_behind_tls_and_a_login_with_secure_cookies(stack, tmp_path):
    context = Certificates(stack.home).client()
    address = stack.status("superset").address
    assert address.startswith("https://")
    page = answer(f"{address}/login/", context)
    cookies = page.headers.get_all("Set-Cookie")
    assert cookies
    assert all("Secure" in cookie and "HttpOnly" in cookie for cookie in cookies)
    with pytest.raises(urllib.error.HTTPError) as refused:
        answer(f"{address}/api/v1/dashboard/", context)
    assert refused.value.code in (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN)
    with pytest.raises((OSError, http.client.HTTPException)):
        answer(address.replace("https", "http") + "/login/", None).read()
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        answer(f"{address}/login/", strangers(tmp_path).client())


def test_superset_shows_its_new_certificate(stack):
    address = urllib.parse.urlsplit(stack.status("superset").address)
    place = (address.hostname, address.port)
    before = ssl.get_server_certificate(place)
    wait_for_idle.tailrace(stack, "credentials", "renew", seconds=START_SECONDS)
    assert ssl.get_server_certificate(place) != before
    context = Certificates(stack.home).client()
    assert answer(f"{address.geturl()}/health", context).read() == b"OK"


def test_a_report_is_drawn_by_a_browser_that_believes_this_superset_alone(stack, tmp_path, monkeypatch):
    """The first test of this file sends the same report with the right certificate."""
    component = Reports(stack.settings, stack.home)
    stranger = {"SUPERSET_CERTIFICATE_FILE": str(strangers(tmp_path).file("superset"))}
    environment = component.environment() | stranger
    monkeypatch.setattr(component, "environment", lambda: environment)
    with mail_receiver(MAIL_PORT):
        reason = component.send(component.config().subscriptions[1].name)
    assert "invalid cookie domain" in reason, "it shows a warning, which has no host to be logged in at"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("reports: []", "`mail` is missing"),
        ("mail: {host: m, from: a@b, user: x}\nreports: [{}]", "`user` and `password_file` go together"),
        ("mail: {host: m, from: a@b}\nreports: [{name: weekly}]", "report 1: `name` must be one of"),
        (
            "mail: {host: m, from: a@b}\n"
            "reports: [{name: weekly_compliance, to: [a@b], schedule: 0 6 * * MON}]",
            "`schedule` must be minute hour day month weekday in numbers",
        ),
        (
            "mail: {host: m, from: a@b}\nreports: [{name: weekly_compliance, to: [a@b], time_zone: CETT}]",
            "`time_zone` must be a time zone such as Europe/Berlin",
        ),
        (
            "mail: {host: m, from: a@b}\nreports: [{name: weekly_compliance, to: [a@b]},"
            " {name: weekly_compliance, to: [c@d]}]",
            "weekly_compliance is listed twice",
        ),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_place(tmp_path, wrong, said):
    file = tmp_path / "reports.yaml"
    file.write_text(wrong)
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        superset_reports.load(file)


def _drawn(stack) -> int:
    """How many attempts to draw a report Superset has recorded."""
    file = stack.home.data("superset") / "superset.db"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", timeout=LIMIT_SECONDS, uri=True)) as metadata:
        return metadata.execute("SELECT count(*) FROM report_execution_log").fetchone()[0]


def _height(dashboard: str) -> int:
    """Pixels of all rows and of what is between them."""
    (asset,) = [each for each in asset_files.load() if (each.kind, each.name) == ("dashboards", dashboard)]
    return sum(8 * row[0]["height"] + 16 for row in asset.content["layout"])


def _pixels(picture: Image.Image, colour: tuple[int, int, int]) -> int:
    """How many are about of that colour: a JPEG does not keep it exactly."""
    rgb = picture.convert("RGB")
    difference = ImageChops.difference(rgb, Image.new("RGB", rgb.size, colour))
    far = ImageChops.lighter(ImageChops.lighter(*difference.split()[:2]), difference.split()[2])
    return sum(far.histogram()[:24])
