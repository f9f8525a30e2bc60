"""The keys of receivers in alerts.yaml. An unknown key is an error; a message states how to correct the
value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tailrace.config import yaml_reader
from tailrace.config.yaml_reader import Section


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


ReceiverConfig = Elasticsearch | Splunk


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


READERS: Mapping[str, Callable[[Section], ReceiverConfig]] = {
    "elasticsearch": _elasticsearch,
    "splunk": _splunk,
}
"""By kind of a channel: reads the keys of its receiver. Raises ConfigurationError."""
