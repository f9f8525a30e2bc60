"""The keys of receivers in alerts.yaml. An unknown key is an error; a message states how to correct the
value."""

import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tailrace.config import yaml_reader
from tailrace.config.yaml_reader import Section

PARQUET, JSON = "parquet", "json"
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
ACCOUNT = re.compile(r"\d{12}|external")


@dataclass(frozen=True, kw_only=True)
class Elasticsearch:
    """An index or data stream of Elasticsearch or OpenSearch. `timeout` in seconds, for each response."""

    formats: ClassVar[Sequence[str]] = ("ecs", "ocsf", "json")
    url: str
    index: str
    secret_file: Path | None = None
    """An API key, or the password of `user`."""
    user: str = ""
    is_compressed: bool = True
    ca_file: Path | None = None
    timeout: int = 30


@dataclass(frozen=True, kw_only=True)
class Splunk:
    """An HTTP Event Collector. Times in seconds."""

    formats: ClassVar[Sequence[str]] = ("ecs", "ocsf", "json")
    url: str
    """Ends with /services/collector/event."""
    secret_file: Path
    index: str = ""
    """Empty: the default index of the token."""
    has_ack: bool = False
    ack_timeout: int = 60
    """The time after which an unacknowledged request counts as failed."""
    is_compressed: bool = False
    ca_file: Path | None = None
    timeout: int = 10


@dataclass(frozen=True, kw_only=True)
class Kafka:
    """A topic of another Kafka. `timeout` in seconds, for the delivery of a batch."""

    formats: ClassVar[Sequence[str]] = ("ocsf", "ecs", "json")
    brokers: str
    topic: str
    security: str = "tls"
    """tls, or none for an unencrypted connection."""
    user: str = ""
    mechanism: str = "SCRAM-SHA-512"
    secret_file: Path | None = None
    """The password of `user`."""
    is_compressed: bool = True
    ca_file: Path | None = None
    timeout: int = 30


@dataclass(frozen=True, kw_only=True)
class S3:
    """A bucket. `timeout` in seconds, for connecting and for each response."""

    formats: ClassVar[Sequence[str]] = ("ocsf", "ecs", "json")
    bucket: str
    region: str
    account_id: str
    source: str = "tailrace"
    file: str = PARQUET
    url: str = ""
    """The address of a compatible service; empty: Amazon."""
    secret_file: Path | None = None
    """Access key id and secret key, in two lines; none: from the environment."""
    ca_file: Path | None = None
    timeout: int = 60


@dataclass(frozen=True, kw_only=True)
class Sentinel:
    """A stream of a data collection rule of Azure Monitor. `timeout` in seconds."""

    formats: ClassVar[Sequence[str]] = ("ecs", "ocsf", "json")
    url: str
    """The logs ingestion endpoint of the rule, or of a data collection endpoint."""
    rule: str
    """The immutable id of the rule."""
    stream: str
    tenant: str
    client_id: str
    secret_file: Path
    """The client secret."""
    login_url: str = "https://login.microsoftonline.com"
    is_compressed: bool = True
    ca_file: Path | None = None
    timeout: int = 30


@dataclass(frozen=True, kw_only=True)
class GoogleSecOps:
    """An instance of Google SecOps. `timeout` in seconds."""

    formats: ClassVar[Sequence[str]] = ("ocsf", "ecs", "json", "udm")
    customer_id: str
    log_type: str
    secret_file: Path
    """The key file of a service account."""
    url: str = "https://malachiteingestion-pa.googleapis.com"
    ca_file: Path | None = None
    timeout: int = 30


ReceiverConfig = Elasticsearch | Splunk | Kafka | S3 | Sentinel | GoogleSecOps


def _elasticsearch(section: Section) -> Elasticsearch:
    secret_file = section.file("secret_file")
    user = section.take("user", yaml_reader.text, "")
    if user and not secret_file:
        raise section.mistake("`user` needs `secret_file`, a file with the password", "user")
    return Elasticsearch(
        url=_url(section, section.need("url", yaml_reader.url), has_secret=bool(secret_file)),
        index=section.need("index", index_name),
        secret_file=secret_file,
        user=user,
        **_transport(section, is_compressed=True, timeout=30),
    )


def index_name(value: object) -> str:
    """Reads the name of an index, in lower case as Elasticsearch requires."""
    name = yaml_reader.text(value)
    if name != name.lower() or name[0] in "-_+." or any(sign in ' "*\\<|,>/?#:' for sign in name):
        raise ValueError(
            f"the name of an index or data stream in lower case, such as logs-tailrace-default, not {name!r}"
        )
    return name


def _splunk(section: Section) -> Splunk:
    url = _url(section, section.need("url", yaml_reader.url), has_secret=True)
    has_ack = section.take("indexer_ack", yaml_reader.flag, False)
    if has_ack and not url.endswith("/services/collector/event"):
        raise section.mistake(
            f"with `indexer_ack` the `url` must end with /services/collector/event, not {url!r}", "url"
        )
    return Splunk(
        url=url,
        secret_file=section.file("secret_file", needed=True),
        index=section.take("index", yaml_reader.text, ""),
        has_ack=has_ack,
        ack_timeout=section.take("ack_timeout", yaml_reader.span, 60),
        **_transport(section, is_compressed=False, timeout=10),
    )


def _url(section: Section, url: str, has_secret: bool) -> str:
    """Returns an address without a slash at its end. Raises ConfigurationError if it discloses a secret."""
    if has_secret and not yaml_reader.keeps_secrets(url):
        raise section.mistake("`url` must begin with https://, or the key would travel unencrypted", "url")
    return url.rstrip("/")


def _transport(section: Section, is_compressed: bool, timeout: int) -> dict[str, object]:
    return {
        "is_compressed": section.take("compress", yaml_reader.flag, is_compressed),
        "ca_file": section.file("ca_file"),
        "timeout": section.take("timeout", yaml_reader.span, timeout),
    }


def _kafka(section: Section) -> Kafka:
    user = section.take("user", yaml_reader.text, "")
    security = section.take("security", yaml_reader.one_of("tls", "none"), "tls")
    secret_file = section.file("secret_file", needed=bool(user))
    if user and security == "none":
        raise section.mistake(
            "`user` needs `security: tls`, or the password would travel unencrypted", "user"
        )
    return Kafka(
        brokers=section.need("brokers", yaml_reader.text),
        topic=section.need("topic", yaml_reader.text),
        security=security,
        user=user,
        mechanism=section.take("mechanism", yaml_reader.one_of(*MECHANISMS), MECHANISMS[0]),
        secret_file=secret_file,
        **_transport(section, is_compressed=True, timeout=30),
    )


def _s3(section: Section) -> S3:
    url = section.take("url", yaml_reader.url, "")
    secret_file = section.file("secret_file")
    return S3(
        bucket=section.need("bucket", yaml_reader.text),
        region=section.need("region", yaml_reader.name),
        account_id=section.need("account_id", matching(ACCOUNT, "12 digits in quotes, or external")),
        source=section.take("source", yaml_reader.name, "tailrace"),
        file=_file(section),
        url=_url(section, url, has_secret=bool(secret_file)) if url else "",
        secret_file=secret_file,
        ca_file=section.file("ca_file"),
        timeout=section.take("timeout", yaml_reader.span, 60),
    )


def _file(section: Section) -> str:
    """Returns the form of objects. Raises ConfigurationError for Parquet without pyarrow or without OCSF."""
    file = section.take("file", yaml_reader.one_of(PARQUET, JSON), PARQUET)
    if file == PARQUET and importlib.util.find_spec("pyarrow") is None:
        raise section.mistake(
            "`file: parquet` needs the package pyarrow; install it, or set `file: json`", "file"
        )
    if file == PARQUET and section.peek("format", "ocsf") != "ocsf":
        raise section.mistake(
            "`file: parquet` needs `format: ocsf`; for other formats set `file: json`", "format"
        )
    return file


def _sentinel(section: Section) -> Sentinel:
    return Sentinel(
        url=_url(section, section.need("url", yaml_reader.url), has_secret=True),
        rule=section.need("rule", matching(re.compile(r"dcr-[0-9a-f]{32}"), "the immutable id, dcr-…")),
        stream=section.need(
            "stream", matching(re.compile(r"(Custom|Microsoft)-\w+"), "such as Custom-Tailrace_CL")
        ),
        tenant=section.need("tenant", matching(UUID, "the directory (tenant) id, a UUID")),
        client_id=section.need("client_id", matching(UUID, "the application (client) id, a UUID")),
        secret_file=section.file("secret_file", needed=True),
        login_url=_url(
            section, section.take("login_url", yaml_reader.url, Sentinel.login_url), has_secret=True
        ),
        **_transport(section, is_compressed=True, timeout=30),
    )


def _google_secops(section: Section) -> GoogleSecOps:
    return GoogleSecOps(
        customer_id=section.need("customer_id", matching(UUID, "the customer id, a UUID")),
        log_type=section.need("log_type", yaml_reader.name),
        secret_file=section.file("secret_file", needed=True),
        url=_url(section, section.take("url", yaml_reader.url, GoogleSecOps.url), has_secret=True),
        ca_file=section.file("ca_file"),
        timeout=section.take("timeout", yaml_reader.span, 30),
    )


def matching(pattern: re.Pattern[str], expected: str) -> Callable[[object], str]:
    """Returns a reader of texts of a form; `expected` describes it."""

    def reader(value: object) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(f"{expected}, not {value!r}")
        return value

    return reader


READERS: Mapping[str, Callable[[Section], ReceiverConfig]] = {
    "elasticsearch": _elasticsearch,
    "splunk": _splunk,
    "kafka": _kafka,
    "s3": _s3,
    "sentinel": _sentinel,
    "google_secops": _google_secops,
}
"""By kind of a channel: reads the keys of its receiver. Raises ConfigurationError."""
