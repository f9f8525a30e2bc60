"""Configures Superset's reports by mail: the reports, and their recipients in this installation.

A report is a file of dashboards/reports. reports.yaml in the home directory lists the recipients:

    dashboards: https://tailrace.example.com    # base URL of links in mails
    mail:
      host: mail.example.com
      from: tailrace@example.com
      user: tailrace
      password_file: mail.password              # a path relative to this file
    reports:
      - name: weekly_compliance
        to: [audit@example.com]
        schedule: "0 6 * * 1"                   # minute hour day month weekday; default: that of the report
        time_zone: Europe/Berlin                # of the schedule; default: UTC

Superset renders a report as a user of its audience, so it contains only data that the audience may see.
"""

import json
import re
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.config import smtp, yaml_reader
from tailrace.config.smtp import MailServer
from tailrace.config.yaml_reader import ConfigurationError, Section
from tailrace.dashboards import asset_files
from tailrace.dashboards.asset import asset_uuid
from tailrace.dashboards.asset_files import ROLES
from tailrace.dashboards.superset_client import Client

DIRECTORY = asset_files.DIRECTORY / "reports"
PREFIX = "Tailrace: "
"""The prefix of our reports in Superset: those with it that are not configured are removed."""
REPORTS = "/api/v1/report/"
USERS = "/api/v1/security/users/"

WIDTH = 1600
"""Pixels. The height of a page depends on its dashboard: see superset/reports.py."""
WORKING_SECONDS = 2400
"""The timeout of a report: two attempts to render it, each limited by superset_config.py, and the mail."""

_FIELD = r"(\*|[0-9]+(-[0-9]+)?)(/[0-9]+)?"
_SCHEDULE = re.compile(rf"{_FIELD}(,{_FIELD})*( {_FIELD}(,{_FIELD})*){{4}}")


@dataclass(frozen=True)
class Report:
    """One file of dashboards/reports."""

    name: str
    title: str
    description: str
    dashboard: str
    """A file of dashboards/dashboards, without suffix."""
    audience: str
    """The audience, of dashboards.ROLES; a user of that name renders the report."""
    schedule: str


@dataclass(frozen=True)
class Subscription:
    """The recipients of a report, and its schedule."""

    report: Report
    to: Sequence[str]
    schedule: str
    time_zone: str

    @property
    def name(self) -> str:
        """The name of the report in Superset."""
        return PREFIX + self.report.title


@dataclass(frozen=True)
class ReportsConfig:
    """The content of reports.yaml."""

    dashboards: str
    """Address of the dashboards' server without path; empty: the dashboards of this installation."""
    server: MailServer
    subscriptions: Sequence[Subscription]


def definitions(directory: Path = DIRECTORY) -> dict[str, Report]:
    """Every report by name. Raises ConfigurationError."""
    return {file.stem: _definition(file) for file in sorted(directory.glob("*.yaml"))}


def _definition(file: Path) -> Report:
    section = yaml_reader.read(file)
    report = Report(
        name=file.stem,
        title=section.need("title", yaml_reader.text),
        description=section.need("description", yaml_reader.text),
        dashboard=section.need("dashboard", yaml_reader.text),
        audience=section.need("audience", yaml_reader.one_of(*ROLES)),
        schedule=section.need("schedule", schedule),
    )
    section.close()
    return report


def load(file: Path) -> ReportsConfig:
    """Reads and validates reports.yaml. Raises ConfigurationError."""
    top, known = yaml_reader.read(file), definitions()
    address = top.take("dashboards", yaml_reader.url, "").rstrip("/")
    mail = top.inner("mail")
    server = smtp.read(mail)
    mail.close()
    subscriptions = [_subscription(section, known) for section in top.each("reports", "report")]
    top.close()
    names = [each.report.name for each in subscriptions]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError(f"{file}: {twice[0]} is listed twice; add its addresses to one `to`")
    return ReportsConfig(address, server, subscriptions)


def _subscription(section: Section, known: Mapping[str, Report]) -> Subscription:
    report = known[section.need("name", yaml_reader.one_of(*known))]
    subscription = Subscription(
        report=report,
        to=section.need("to", yaml_reader.addresses),
        schedule=section.take("schedule", schedule, report.schedule),
        time_zone=section.take("time_zone", time_zone, "UTC"),
    )
    section.close()
    return subscription


def schedule(value: object) -> str:
    """Validates five fields in the format of crontab(5), in numbers."""
    if not isinstance(value, str) or not _SCHEDULE.fullmatch(value):
        raise ValueError(f'minute hour day month weekday in numbers, such as "0 6 * * 1", not {value!r}')
    return value


def time_zone(value: object) -> str:
    """Validates a name of the IANA time zone database."""
    if value not in zoneinfo.available_timezones():
        raise ValueError(f"a time zone such as Europe/Berlin, not {value!r}")
    return str(value)


def apply(client: Client, config: ReportsConfig) -> list[str]:
    """Creates and alters Superset's reports to match the files; returns the changes, one per line.

    Dashboards and users of the audiences must exist. A second run changes nothing. Raises SupersetError,
    ConfigurationError.
    """
    there = {each["name"]: each["id"] for each in client.every(REPORTS) if each["name"].startswith(PREFIX)}
    users = {each["username"]: each["id"] for each in client.every(USERS)}
    changes = []
    for subscription in config.subscriptions:
        wanted = _wanted(client, subscription, users)
        changes += _apply_subscription(client, there.pop(subscription.name, None), wanted)
    for name, number in there.items():
        client.remove(f"{REPORTS}{number}")
        changes.append(f"report {name}: removed")
    return changes


def _wanted(client: Client, subscription: Subscription, users: Mapping[str, int]) -> dict[str, Any]:
    report = subscription.report
    if report.audience not in users:
        raise ConfigurationError(f"{report.name}: this Superset has no user {report.audience} to render it")
    uuid = asset_uuid("dashboards", report.dashboard)
    return {
        "type": "Report",
        "name": subscription.name,
        "description": report.description,
        "email_subject": report.title,
        "crontab": subscription.schedule,
        "timezone": subscription.time_zone,
        "dashboard": client.get(f"/api/v1/dashboard/{uuid}")["result"]["id"],
        "owners": [users[report.audience]],
        "recipients": [
            {"type": "Email", "recipient_config_json": {"target": ", ".join(subscription.to)}},
        ],
        "report_format": "PDF",
        "creation_method": "alerts_reports",
        "custom_width": WIDTH,
        "force_screenshot": True,
        "working_timeout": WORKING_SECONDS,
        "active": True,
    }


def _apply_subscription(client: Client, number: int | None, wanted: Mapping[str, Any]) -> list[str]:
    if number is None:
        client.post(REPORTS, wanted)
        return [f"report {wanted['name']}: created"]
    if _as_written(client.get(f"{REPORTS}{number}")["result"], wanted) == wanted:
        return []
    client.put(f"{REPORTS}{number}", wanted)
    return [f"report {wanted['name']}: changed"]


def _as_written(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a report from the form that Superset returns to the form that it accepts, for the wanted
    keys."""
    current = {
        **found,
        "dashboard": (found["dashboard"] or {}).get("id"),
        "owners": [owner["id"] for owner in found["owners"]],
        "recipients": [
            {"type": each["type"], "recipient_config_json": _parsed(each["recipient_config_json"])}
            for each in found["recipients"]
        ],
    }
    return {key: current.get(key, value) for key, value in wanted.items()}


def _parsed(written: Any) -> Any:
    return json.loads(written) if isinstance(written, str) else written
