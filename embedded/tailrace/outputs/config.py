"""The keys of receivers in alerts.yaml. An unknown key is an error; a message states how to correct the
value."""

import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tailrace.config import yaml_reader
from tailrace.config.yaml_reader import Section, matching

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
    mechanism: str = MECHANISMS[0]
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
        url=_url(section, has_secret=bool(secret_file)),
        index=section.need("index", index_name),
        secret_file=secret_file,
        user=user,
        is_compressed=_compressed(section, Elasticsearch),
        **_connection(section, Elasticsearch),
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
    url = _url(section)
    has_ack = section.take("indexer_ack", yaml_reader.flag, Splunk.has_ack)
    if has_ack and not url.endswith("/services/collector/event"):
        raise section.mistake(
            f"with `indexer_ack` the `url` must end with /services/collector/event, not {url!r}", "url"
        )
    return Splunk(
        url=url,
        secret_file=section.file("secret_file", needed=True),
        index=section.take("index", yaml_reader.text, Splunk.index),
        has_ack=has_ack,
        ack_timeout=section.take("ack_timeout", yaml_reader.span, Splunk.ack_timeout),
        is_compressed=_compressed(section, Splunk),
        **_connection(section, Splunk),
    )


def _url(section: Section, has_secret: bool = True, usual: str | None = None, key: str = "url") -> str:
    """Returns the address of a key, which is required without `usual`, without a slash at its end.

    Raises ConfigurationError if it discloses a secret.
    """
    reader = yaml_reader.url
    url = section.need(key, reader) if usual is None else section.take(key, reader, usual)
    if url and has_secret:
        section.require_encryption(key, url, "key")
    return url.rstrip("/")


def _connection(section: Section, receiver: type[ReceiverConfig]) -> dict[str, object]:
    return {
        "ca_file": section.file("ca_file"),
        "timeout": section.take("timeout", yaml_reader.span, receiver.timeout),
    }


def _compressed(section: Section, receiver: type[Elasticsearch | Splunk | Kafka | Sentinel]) -> bool:
    return section.take("compress", yaml_reader.flag, receiver.is_compressed)


def _kafka(section: Section) -> Kafka:
    user = section.take("user", yaml_reader.text, "")
    security = section.take("security", yaml_reader.one_of("tls", "none"), Kafka.security)
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
        mechanism=section.take("mechanism", yaml_reader.one_of(*MECHANISMS), Kafka.mechanism),
        secret_file=secret_file,
        is_compressed=_compressed(section, Kafka),
        **_connection(section, Kafka),
    )


def _s3(section: Section) -> S3:
    secret_file = section.file("secret_file")
    return S3(
        bucket=section.need("bucket", yaml_reader.text),
        region=section.need("region", yaml_reader.name),
        account_id=section.need("account_id", matching(ACCOUNT, "12 digits in quotes, or external")),
        source=section.take("source", yaml_reader.name, S3.source),
        file=_file(section),
        url=_url(section, has_secret=bool(secret_file), usual=S3.url),
        secret_file=secret_file,
        **_connection(section, S3),
    )


def _file(section: Section) -> str:
    """Returns the form of objects. Raises ConfigurationError for Parquet without pyarrow or without OCSF."""
    file = section.take("file", yaml_reader.one_of(PARQUET, JSON), S3.file)
    if file == PARQUET and importlib.util.find_spec("pyarrow") is None:
        raise section.mistake(
            "`file: parquet` needs the package pyarrow; install it, or set `file: json`", "file"
        )
    if file == PARQUET and section.peek("format", S3.formats[0]) != "ocsf":
        raise section.mistake(
            "`file: parquet` needs `format: ocsf`; for other formats set `file: json`", "format"
        )
    return file


def _sentinel(section: Section) -> Sentinel:
    return Sentinel(
        url=_url(section),
        rule=section.need("rule", matching(re.compile(r"dcr-[0-9a-f]{32}"), "the immutable id, dcr-…")),
        stream=section.need(
            "stream", matching(re.compile(r"(Custom|Microsoft)-\w+"), "such as Custom-Tailrace_CL")
        ),
        tenant=section.need("tenant", matching(UUID, "the directory (tenant) id, a UUID")),
        client_id=section.need("client_id", matching(UUID, "the application (client) id, a UUID")),
        secret_file=section.file("secret_file", needed=True),
        login_url=_url(section, usual=Sentinel.login_url, key="login_url"),
        is_compressed=_compressed(section, Sentinel),
        **_connection(section, Sentinel),
    )


def _google_secops(section: Section) -> GoogleSecOps:
    return GoogleSecOps(
        customer_id=section.need("customer_id", matching(UUID, "the customer id, a UUID")),
        log_type=section.need("log_type", yaml_reader.name),
        secret_file=section.file("secret_file", needed=True),
        url=_url(section, usual=GoogleSecOps.url),
        **_connection(section, GoogleSecOps),
    )


READERS: Mapping[str, Callable[[Section], ReceiverConfig]] = {
    "elasticsearch": _elasticsearch,
    "splunk": _splunk,
    "kafka": _kafka,
    "s3": _s3,
    "sentinel": _sentinel,
    "google_secops": _google_secops,
}
"""By kind of a channel: reads the keys of its receiver. Raises ConfigurationError."""
