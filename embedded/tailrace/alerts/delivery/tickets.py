"""Channels that keep a ticket per alert in a tracker: Jira and ServiceNow.

- name: tickets
  kind: jira
  url: https://example.atlassian.net
  user: tailrace@example.com
  secret_file: jira.token                     # an API token of that user
  project: SEC
- name: incidents
  kind: servicenow
  url: https://example.service-now.com
  user: tailrace
  secret_file: servicenow.password
  table: incident                             # or em_event
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.alerts.delivery.selection import Selection
from tailrace.alerts.triage import LEVELS
from tailrace.config import yaml_reader
from tailrace.config.yaml_reader import Section

TABLES = ("incident", "em_event")
_project = yaml_reader.matching(re.compile(r"[A-Z][A-Z0-9_]{1,254}"), "the key of a project such as SEC")


@dataclass(frozen=True)
class Jira:
    """A project of Jira Cloud, REST API version 3. `timeout` in seconds, for each request."""

    name: str
    selection: Selection
    url: str
    """The address of the site, without path."""
    user: str
    secret_file: Path
    project: str
    issue_type: str = "Task"
    priorities: Sequence[str] = ()
    """Names of priorities from informational to critical; empty: the project's default."""
    close_status: str = ""
    """The status of closed alerts; empty: the first one of the category Done."""
    reopen_status: str = ""
    """The status of reopened alerts; empty: the first one of another category."""
    fields: Mapping[str, object] = field(default_factory=dict)
    """Further fields of a new issue."""
    ca_file: Path | None = None
    timeout: int = 10

    @property
    def resolves(self) -> bool:
        """Whether the receiver resolves an alert that was closed."""
        return True


@dataclass(frozen=True)
class ServiceNow:
    """A table of a ServiceNow instance. `timeout` in seconds, for each request."""

    name: str
    selection: Selection
    url: str
    """The address of the instance, without path."""
    user: str
    secret_file: Path
    table: str = "incident"
    """incident or em_event (Event Management)."""
    close_code: str = "Solution provided"
    """The resolution code of a resolved incident, a choice of the instance."""
    fields: Mapping[str, object] = field(default_factory=dict)
    """Further fields of a new row."""
    ca_file: Path | None = None
    timeout: int = 10

    @property
    def resolves(self) -> bool:
        """Whether the receiver resolves an alert that was closed."""
        return True


def jira(section: Section, selection: Selection) -> Jira:
    """Reads a channel. Raises ConfigurationError."""
    return Jira(
        **_common(section, selection, Jira),
        project=section.need("project", _project),
        issue_type=section.take("issue_type", yaml_reader.text, Jira.issue_type),
        priorities=section.take("priorities", _priorities, Jira.priorities),
        close_status=section.take("close_status", yaml_reader.text, Jira.close_status),
        reopen_status=section.take("reopen_status", yaml_reader.text, Jira.reopen_status),
    )


def servicenow(section: Section, selection: Selection) -> ServiceNow:
    """Reads a channel. Raises ConfigurationError."""
    return ServiceNow(
        **_common(section, selection, ServiceNow),
        table=section.take("table", yaml_reader.one_of(*TABLES), ServiceNow.table),
        close_code=section.take("close_code", yaml_reader.text, ServiceNow.close_code),
    )


def _common(section: Section, selection: Selection, tracker: type[Jira | ServiceNow]) -> dict:
    url = section.need("url", yaml_reader.url).rstrip("/")
    section.require_encryption("url", url, "password")
    return {
        "name": section.need("name", yaml_reader.name),
        "selection": selection,
        "url": url,
        "user": section.need("user", yaml_reader.text),
        "secret_file": section.file("secret_file", needed=True),
        "fields": section.take("fields", _fields, {}),
        "ca_file": section.file("ca_file"),
        "timeout": section.take("timeout", yaml_reader.span, tracker.timeout),
    }


def _priorities(value: object) -> Sequence[str]:
    names = yaml_reader.texts(value)
    if len(names) != len(LEVELS):
        raise ValueError(f"a list of {len(LEVELS)} names, for {', '.join(LEVELS)}, not {value!r}")
    return names


def _fields(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"fields and their values, not {value!r}")
    return value
