"""The entries of `sources.yaml` with `kind`: logs that the component pull reads."""

import re
import urllib.parse
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tailrace.sources.entry_keys import SourcesError, require_keys, require_one_of, require_zone, secret

KINDS = ("slowlog", "audit", "errorlog", "general")
CLOUDWATCH, TABLE, OBJECTS, HUB, OTLP = "cloudwatch", "table", "objects", "event_hubs", "otlp"
AWS_KEYS = ("region", "db_instance", "endpoint")
PULLED_KEYS = {
    "rds": (*AWS_KEYS, "file"),
    CLOUDWATCH: (*AWS_KEYS, "log_group", "stream", "since"),
    TABLE: ("defaults_file", "host", "archive"),
    OBJECTS: ("url", *AWS_KEYS, "account", "log_group", "since"),
    HUB: ("url", "db_instance", "endpoint", "connection_file", "since"),
    OTLP: ("url", "match", "connection_file", "since"),
}
"""The keys of each kind of pulled log, besides those of all kinds; the first one is required."""
ALSO_REQUIRED = {OTLP: ("match",)}
PULLED_KINDS = tuple(PULLED_KEYS)
STORES = ("s3", "gs", "az")
SECRET_FILES = ("defaults_file", "connection_file")
URLS = {
    HUB: (re.compile(r"eventhubs://[^/@?#]+/[A-Za-z0-9._-]+"), "eventhubs://NAMESPACE/HUB"),
    OTLP: (re.compile(r"kafka://[^/@?#]+/[A-Za-z0-9._-]+"), "kafka://HOST:PORT,…/TOPIC"),
}
"""What the `url` of each kind of topic must match, and its form for messages."""
HUB_PROTOCOLS = ("sasl_ssl", "sasl_plaintext", "plaintext")
PERFORMANCE_SCHEMA = "performance_schema"
"""What tools read from Performance Schema: no log of a server, so it has no file."""
SOURCES_OF: dict[str, tuple[str, ...]] = {
    TABLE: ("slowlog", "general", "errorlog"),
    HUB: ("slowlog", "audit"),
    OTLP: (*KINDS, PERFORMANCE_SCHEMA),
}


@dataclass(frozen=True)
class PulledSource:
    """A log that the component pull reads from a service. Credentials are not part of the list.

    The puller runs without this package, so it has a class of its own with these fields,
    `tailrace_pull.config.Entry`. embedded/tests/test_pulled_entries.py compares both, and both run the cases
    of schemas/contracts/pulled_entry.json.
    """

    instance: str
    source: str
    kind: str
    """rds, cloudwatch, table, objects, event_hubs or otlp."""
    region: str
    """rds, cloudwatch, objects of S3: the region of the service."""
    cluster: str
    db_instance: str
    """rds, cloudwatch, objects, event_hubs: name of the server at the service."""
    file: str = ""
    """rds: name of the live file at the service; empty: the name for the kind of log."""
    tz: str = "UTC"
    format: str = "auto"
    endpoint: str = ""
    """rds, cloudwatch, objects, event_hubs: address of the service, if it is not the public one."""
    log_group: str = ""
    """cloudwatch, objects: name of the log group; empty for that to which RDS exports the kind of log."""
    stream: str = ""
    """cloudwatch: name of the stream, without a suffix; empty for `db_instance`."""
    since: str = ""
    """cloudwatch, objects, event_hubs, otlp: time of the first events, objects (last write) or messages
    (arrival) to read; empty for a day before the first visit."""
    defaults_file: str = ""
    """table: path of a MySQL option file with address and credentials."""
    host: str = ""
    """table: `host` or `host:port` instead of the values of the option file."""
    archive: str = "mysql"
    """table: schema to which a rotation moves tables."""
    url: str = ""
    """objects: store, bucket and prefix; event_hubs: namespace and hub; otlp: servers and topic."""
    account: str = ""
    """objects: storage account of Azure."""
    connection_file: str = ""
    """event_hubs: file with the connection string; empty if it is in the environment of the puller. otlp:
    file with the login; empty for none."""
    match: str = ""
    """otlp: attributes of the records of the log, `NAME=PATTERN,…`."""


def read(file: Path, where: str, entry: dict) -> PulledSource:
    """Reads an entry with `kind`; `where` is its place, for messages. Raises SourcesError."""
    require_one_of(where, "kind", entry["kind"], PULLED_KINDS)
    kind = entry["kind"]
    required = ("instance", "source", "kind", PULLED_KEYS[kind][0], *ALSO_REQUIRED.get(kind, ()))
    require_keys(where, entry, PulledSource, required)
    _require_keys_of_kind(where, entry, kind)
    require_one_of(where, "source", entry["source"], SOURCES_OF.get(kind, KINDS))
    require_zone(where, entry.get("tz", "UTC"))
    if kind == OBJECTS:
        _require_url(where, entry)
    if kind in URLS:
        _require_topic(where, entry)
    if "since" in entry:
        _require_time(where, entry["since"])
    db_instance = entry["instance"] if "db_instance" in PULLED_KEYS[kind] else ""
    defaults = {"cluster": entry["instance"], "region": "", "db_instance": db_instance}
    files = {name: str(secret(file, entry[name])) for name in SECRET_FILES if name in entry}
    return PulledSource(**{**defaults, **entry, **files})


def _require_keys_of_kind(where: str, entry: dict, kind: str) -> None:
    known = {key for keys in PULLED_KEYS.values() for key in keys}
    for key in entry:
        if key in known and key not in PULLED_KEYS[kind]:
            kinds = ", ".join(other for other, keys in PULLED_KEYS.items() if key in keys)
            raise SourcesError(f"{where}: `{key}` is a key of kind {kinds}, not of kind {kind}")


def _require_url(where: str, entry: dict) -> None:
    url = urllib.parse.urlsplit(entry["url"])
    if url.scheme not in STORES or not url.netloc:
        raise SourcesError(f"{where}: url must begin with s3://, gs:// or az:// and a name")
    if (url.scheme == "az") != bool(entry.get("account")):
        raise SourcesError(f"{where}: `account` is required with az://, and with no other store")


def _require_topic(where: str, entry: dict) -> None:
    expected, form = URLS[entry["kind"]]
    if not expected.fullmatch(entry["url"]):
        raise SourcesError(f"{where}: url must be like {form}")
    if entry["kind"] == HUB and "endpoint" in entry:
        _require_hub_endpoint(where, entry["endpoint"])
    if "match" in entry and not _is_match(entry["match"]):
        raise SourcesError(f"{where}: match must be like host.name=db-1,log.file.name=slow.log")


def _require_hub_endpoint(where: str, endpoint: str) -> None:
    protocol, _, address = endpoint.partition("://")
    if endpoint and (protocol not in HUB_PROTOCOLS or not address):
        known = ", ".join(HUB_PROTOCOLS)
        raise SourcesError(f"{where}: endpoint must begin with {known} and ://, not {endpoint!r}")


def _is_match(text: str) -> bool:
    conditions = [[part.strip() for part in each.partition("=")] for each in text.split(",")]
    names = {name for name, _, _ in conditions}
    return all(all(each) for each in conditions) and len(names) == len(conditions)


def selection(log: PulledSource) -> tuple[str, str]:
    """Returns address and condition of a log in OTLP for comparison, with servers and conditions in
    alphabetical order."""
    addresses, _, topic = log.url.removeprefix("kafka://").partition("/")
    conditions = ["=".join(part.strip() for part in each.split("=", 1)) for each in log.match.split(",")]
    return f"kafka://{_sorted(addresses)}/{topic}", f"match {_sorted(','.join(conditions))!r}"


def _sorted(listed: str) -> str:
    return ",".join(sorted(listed.split(",")))


def _require_time(where: str, text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise SourcesError(f"{where}: since must be a time such as 2026-11-26T12:00Z, not {text!r}") from None
