"""Reads callbacks.yaml: which tools may act on alerts, and how their requests are verified.

    bind: 127.0.0.1                     # a reverse proxy terminates TLS
    sources:
      - name: on-call                   # the tool sends its requests to /callbacks/on-call
        kind: pagerduty                 # or opsgenie, jira, servicenow, slack, webhook
        secret_file: pagerduty.secret   # one secret per line, so that they can be replaced
        channel: on-call                # the channel of alerts.yaml with which the tool receives alerts

The file is validated as alerts.yaml is: an unknown key is an error. Secrets are read again for every request.
"""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.alerts.triage import VERDICTS
from tailrace.config import yaml_reader
from tailrace.config.yaml_reader import ConfigurationError, Section

HEADER_AGE, BODY_AGE = 300, 86_400
MAX_AGE = {
    "pagerduty": BODY_AGE,
    "opsgenie": BODY_AGE,
    "jira": BODY_AGE,
    "servicenow": HEADER_AGE,
    "slack": HEADER_AGE,
    "webhook": HEADER_AGE,
}
"""By kind: the default maximum age of a request in seconds. PagerDuty, Opsgenie and Jira state the time of
the change, also when they repeat the request; the others state the time of the request."""
WORDS = {verdict.replace(" ", "-"): verdict for verdict in VERDICTS}
"""Verdicts as words of the command line."""


@dataclass(frozen=True)
class Source:
    """A tool whose users act on alerts."""

    name: str
    kind: str
    secret_file: Path
    channel: str
    """The channel of alerts.yaml to which its actions are not sent back."""
    max_age: int
    """The maximum age of a request, in seconds."""
    ignore_users: Sequence[str] = ()
    """Users whose changes are not recorded, such as the one with which Tailrace itself changes tickets."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """For jira: the verdict of an issue that is closed with a resolution, by its name."""

    @property
    def actor_prefix(self) -> str:
        """The first part of the actor of an action; the second is the name of the tool's user."""
        return self.name if self.kind == "webhook" else self.kind


@dataclass(frozen=True)
class CallbackConfig:
    """The content of callbacks.yaml."""

    sources: Sequence[Source]
    bind: str = "127.0.0.1"
    max_body: int = 262_144
    """The maximum size of a request's body, in bytes."""
    max_connections: int = 32
    """Connections at a time; further ones are closed."""


def load(file: Path) -> CallbackConfig:
    """Reads and validates the file. Raises ConfigurationError."""
    top = yaml_reader.read(file)
    sections = top.each("sources", "source")
    found = CallbackConfig(
        sources=[_source(section) for section in sections],
        bind=top.take("bind", _bind, CallbackConfig.bind),
        max_body=top.take("max_body", yaml_reader.number(1024, 16 << 20), CallbackConfig.max_body),
        max_connections=top.take(
            "max_connections", yaml_reader.number(1, 1000), CallbackConfig.max_connections
        ),
    )
    top.close()
    names = [source.name for source in found.sources]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"{file}: two sources are called {name}")
    return found


def _source(section: Section) -> Source:
    kind = section.need("kind", yaml_reader.one_of(*MAX_AGE))
    name = section.need("name", yaml_reader.name)
    source = Source(
        name=name,
        kind=kind,
        secret_file=section.file("secret_file", needed=True),
        channel=section.take("channel", yaml_reader.name, name),
        max_age=section.take("max_age", yaml_reader.span, MAX_AGE[kind]),
        ignore_users=section.take("ignore_users", yaml_reader.texts, Source.ignore_users),
        verdicts=section.take("verdicts", _verdicts, {}) if kind == "jira" else {},
    )
    section.close()
    return source


def _bind(value: object) -> str:
    try:
        return str(ipaddress.ip_address(str(value)))
    except ValueError:
        raise ValueError(f"an IP address such as 127.0.0.1, not {value!r}") from None


def _verdicts(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict) or not set(value.values()) <= set(WORDS):
        raise ValueError(f"names of resolutions, each with one of {', '.join(WORDS)}, not {value!r}")
    return {str(name): WORDS[word] for name, word in value.items()}
