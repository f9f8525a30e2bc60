"""Reads alerts.yaml: which channel receives which alerts, and how. An unknown key is an error.

    dashboards: https://tailrace.example.com      # base URL of an alert's link
    channels:
      - name: siem
        kind: webhook
        url: https://siem.example.com/hooks/tailrace
        secret_file: siem.secret                  # signs the requests; a path relative to this file
        min_level: medium
      - name: night-shift
        kind: email
        host: mail.example.com
        from: tailrace@example.com
        to: [soc@example.com]
        user: tailrace
        password_file: mail.password
        min_level: high
      - name: on-call
        kind: pagerduty                           # or slack, teams, opsgenie
        secret_file: pagerduty.key
      - name: collector
        kind: syslog
        host: syslog.example.com
        format: cef                               # or leef, ecs, ocsf
      - name: search
        kind: elasticsearch                       # or splunk: the kinds of tailrace.outputs
        url: https://search.example.com:9200
        index: logs-tailrace.alerts-default
        secret_file: search.key

`tickets` reads the channels of the kinds jira and servicenow.

Secrets are in separate files, which are read again for every attempt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.alerts.delivery import tickets
from tailrace.alerts.delivery.selection import Selection
from tailrace.alerts.delivery.tickets import Jira, ServiceNow
from tailrace.alerts.triage import LEVELS
from tailrace.config import smtp, yaml_reader
from tailrace.config.renamed import Renamed
from tailrace.config.smtp import MailServer
from tailrace.config.yaml_reader import ConfigurationError, Section
from tailrace.outputs import config as outputs
from tailrace.outputs import event_channels
from tailrace.outputs.config import ReceiverConfig
from tailrace.outputs.event_channels import EventChannel

OLD_NAMES = {
    "at_most_per_hour": Renamed("max_per_hour"),
    "first_retry": Renamed("retry_initial"),
    "give_up": Renamed("retry_timeout"),
    "longest_retry": Renamed("retry_max"),
    "repeat": Renamed("repeat_interval"),
}
"""Keys of a channel that were renamed."""

DOCUMENT_FORMATS = ("ecs", "ocsf")
LINE_FORMATS = ("cef", "leef", *DOCUMENT_FORMATS)
SYSLOG_PORTS = {"tls": 6514, "none": 601}
SECRET_ADDRESSES = ("slack", "teams")
"""Services whose address is the secret."""
SERVICE_URLS = {
    "pagerduty": "https://events.pagerduty.com/v2/enqueue",
    "opsgenie": "https://api.opsgenie.com/v2/alerts",
}
"""The public addresses of services; a region or a proxy has another one."""


@dataclass(frozen=True)
class Webhook:
    """A URL that receives JSON by POST. `timeout` in seconds, for connecting and for each response."""

    name: str
    selection: Selection
    url: str
    secret_file: Path
    token_file: Path | None = None
    """A bearer token for the receiver, which many require in addition to the signature."""
    ca_file: Path | None = None
    timeout: int = 10
    format: str = "ecs"
    """The fields of the JSON object: ecs or ocsf."""


@dataclass(frozen=True)
class HttpService:
    """A service with its own format of messages, see `services`. `timeout` in seconds."""

    name: str
    selection: Selection
    kind: str
    """slack, teams, pagerduty or opsgenie."""
    url: str
    """Empty for slack and teams, whose address is the secret."""
    secret_file: Path
    ca_file: Path | None = None
    timeout: int = 10
    buttons: bool = False
    """For slack: buttons that acknowledge, assign and close the alert, see `callbacks`."""

    @property
    def resolves(self) -> bool:
        """Whether the service resolves an alert that was closed."""
        return self.kind in ("pagerduty", "opsgenie")


@dataclass(frozen=True)
class Syslog:
    """A receiver of RFC 5424 over TCP or TLS. `timeout` in seconds, for connecting and for each step."""

    name: str
    selection: Selection
    host: str
    port: int
    security: str
    """tls or none; with tls the certificate is verified."""
    format: str
    """The text of the message: cef, leef, ecs or ocsf."""
    ca_file: Path | None = None
    timeout: int = 10


@dataclass(frozen=True)
class Email:
    """An SMTP server and its recipients."""

    name: str
    selection: Selection
    server: MailServer
    to: Sequence[str]
    max_per_hour: int = 30
    """Mails per hour. Further due alerts go into one summary every ten minutes."""


@dataclass(frozen=True)
class Output:
    """A receiver of batches, see `tailrace.outputs`."""

    name: str
    selection: Selection
    receiver: ReceiverConfig
    format: str
    """The form of alerts: ecs or ocsf."""
    has_alerts: bool = True
    """False: the channel receives only what `events` forwards."""


Channel = Webhook | HttpService | Syslog | Email | Jira | ServiceNow | Output


@dataclass(frozen=True)
class DeliveryConfig:
    """The content of alerts.yaml."""

    dashboards: str
    """Address of the dashboards' server without path; empty: the dashboards of this installation."""
    channels: Sequence[Channel]
    events: Sequence[EventChannel] = ()
    """The channels that receive events, too."""


def load(file: Path) -> DeliveryConfig:
    """Reads and validates the file. Raises ConfigurationError."""
    top = yaml_reader.read(file, OLD_NAMES)
    dashboards = top.take("dashboards", yaml_reader.url, "").rstrip("/")
    sections = top.each("channels", "channel")
    of_events = top.each("events", "event") if top.has("events") else []
    top.close()
    channels = [_channel(section) for section in sections]
    _check_names(file, [channel.name for channel in channels])
    receivers = {each.name: each.receiver for each in channels if isinstance(each, Output)}
    events = tuple(event_channels.read(section, receivers) for section in of_events)
    _check_names(file, [f"events of {channel.name}" for channel in events])
    return DeliveryConfig(dashboards, channels, events)


def _check_names(file: Path, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"{file}: two channels are called {name}")


def _channel(section: Section) -> Channel:
    kind = section.need("kind", yaml_reader.one_of(*KINDS))
    channel = KINDS[kind](section)
    section.close()
    return channel


def _selection(section: Section) -> Selection:
    given = Selection()
    return Selection(
        min_level=section.take("min_level", yaml_reader.one_of(*LEVELS), given.min_level),
        rules=section.take("rules", yaml_reader.texts, given.rules),
        repeat_interval=section.take("repeat_interval", yaml_reader.span, given.repeat_interval),
        retry_initial=section.take("retry_initial", yaml_reader.span, given.retry_initial),
        retry_max=section.take("retry_max", yaml_reader.span, given.retry_max),
        retry_timeout=section.take("retry_timeout", yaml_reader.span, given.retry_timeout),
    )


def _webhook(section: Section) -> Webhook:
    url, token_file = section.need("url", yaml_reader.url), section.file("token_file")
    if token_file and not yaml_reader.keeps_secrets(url):
        raise ConfigurationError(
            f"{section.where}: `token_file` needs a `url` that begins with https://, "
            "or the token would travel unencrypted"
        )
    return Webhook(
        name=section.need("name", yaml_reader.name),
        selection=_selection(section),
        url=url,
        secret_file=section.file("secret_file", needed=True),
        token_file=token_file,
        ca_file=section.file("ca_file"),
        timeout=section.take("timeout", yaml_reader.span, Webhook.timeout),
        format=section.take("format", yaml_reader.one_of(*DOCUMENT_FORMATS), Webhook.format),
    )


def _service(kind: str) -> Callable[[Section], HttpService]:
    def read(section: Section) -> HttpService:
        return HttpService(
            name=section.need("name", yaml_reader.name),
            selection=_selection(section),
            kind=kind,
            url=_service_url(kind, section),
            secret_file=section.file("secret_file", needed=True),
            ca_file=section.file("ca_file"),
            timeout=section.take("timeout", yaml_reader.span, HttpService.timeout),
            buttons=section.take("buttons", yaml_reader.flag, HttpService.buttons)
            if kind == "slack"
            else False,
        )

    return read


def _output(kind: str) -> Callable[[Section], Output]:
    def read(section: Section) -> Output:
        name, selection = section.need("name", yaml_reader.name), _selection(section)
        receiver = outputs.READERS[kind](section)
        formats = [each for each in receiver.formats if each in DOCUMENT_FORMATS]
        return Output(
            name=name,
            selection=selection,
            receiver=receiver,
            format=section.take("format", yaml_reader.one_of(*formats), formats[0]),
            has_alerts=section.take("alerts", yaml_reader.flag, Output.has_alerts),
        )

    return read


def _service_url(kind: str, section: Section) -> str:
    """Returns the address of a service whose secret is a key. Raises ConfigurationError."""
    if kind in SECRET_ADDRESSES:
        return ""
    default = SERVICE_URLS.get(kind)
    url = section.take("url", yaml_reader.url, default) if default else section.need("url", yaml_reader.url)
    section.require_encryption("url", url, "key")
    return url.rstrip("/")


def _syslog(section: Section) -> Syslog:
    security = section.take("security", yaml_reader.one_of(*SYSLOG_PORTS), "tls")
    return Syslog(
        name=section.need("name", yaml_reader.name),
        selection=_selection(section),
        host=section.need("host", yaml_reader.text),
        port=section.take("port", yaml_reader.number(1, 65_535), SYSLOG_PORTS[security]),
        security=security,
        format=section.take("format", yaml_reader.one_of(*LINE_FORMATS), "cef"),
        ca_file=section.file("ca_file"),
        timeout=section.take("timeout", yaml_reader.span, Syslog.timeout),
    )


def _email(section: Section) -> Email:
    return Email(
        name=section.need("name", yaml_reader.name),
        selection=_selection(section),
        server=smtp.read(section),
        to=section.need("to", yaml_reader.addresses),
        max_per_hour=section.take("max_per_hour", yaml_reader.number(1, 10_000), Email.max_per_hour),
    )


KINDS = {
    "webhook": _webhook,
    "email": _email,
    "syslog": _syslog,
    **{kind: _service(kind) for kind in (*SECRET_ADDRESSES, *SERVICE_URLS)},
    "jira": lambda section: tickets.jira(section, _selection(section)),
    "servicenow": lambda section: tickets.servicenow(section, _selection(section)),
    **{kind: _output(kind) for kind in outputs.READERS},
}
