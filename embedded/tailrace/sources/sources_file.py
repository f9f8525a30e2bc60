"""Reads `sources.yaml`, the user's list of watched logs and servers, which all collectors use.

    - instance: shop-db-1          # the server's name; unique, it is part of every event's identity
      cluster: shop                # any grouping of servers; default: the instance
      source: slowlog              # slowlog, audit, errorlog or general
      path: /var/log/mysql/slow.log
      tz: Europe/Berlin            # IANA zone of the log's local times; default: UTC
      format: auto                 # a hint for the parser; default: auto

`path` is one file, without rotation suffix; its rotated siblings (slow.log.1, slow.log-20260101, …) are found
automatically. A relative path is relative to the list.

A server from which capture takes snapshots (accounts, grants, settings; docs/CAPTURE.md) is listed so:

    - instance: shop-db-1
      cluster: shop
      source: server
      dsn: mysql://tailrace@db-1:3306/?tls=required
      password_file: /etc/tailrace/shop-db-1.password
      digests: true                # also counters of Performance Schema, each minute; default: false
      explain: true                # also plans of its heaviest statements; default: false
      explain_dsn: mysql://tailrace_explain@db-1:3306/?tls=required   # a separate account for EXPLAIN
      explain_password_file: /etc/tailrace/shop-db-1-explain.password

A log of a server without a file system, which the component pull reads (docs/PULL.md), is listed so:

    - instance: shop-db-2
      source: slowlog
      kind: rds                    # Amazon RDS or Aurora
      region: eu-central-1
      db_instance: shop-prod-2     # its name at the service; default: the instance
      file: slowquery/mysql-slowquery.log   # the live file; default: that of the kind of log

With `kind: cloudwatch` it is read from Amazon CloudWatch Logs, with the keys `log_group`, `stream`, `since`
instead of `file`.
A log that a server writes to a table (log_output=TABLE) is listed so:

    - instance: shop-db-3
      source: slowlog              # slowlog or general
      kind: table
      defaults_file: /etc/tailrace/shop-db-3.cnf   # MySQL option file with address, user and password
      host: db-3:3306              # default: that of the option file
      archive: log_archive         # schema to which a rotation moves tables; default: mysql

A log that a cloud exports to objects (S3, Google Cloud Storage, Azure Blob Storage) is listed so:

    - instance: shop-db-6
      source: slowlog
      kind: objects
      url: gs://shop-logs/cloudsql.googleapis.com/mysql-slow.log   # s3://, gs:// or az://, and a prefix
      db_instance: shop-prod-6     # its name at the cloud; default: the instance

With `kind: event_hubs` it is read from Azure Event Hubs: `url: eventhubs://NAMESPACE/HUB`, and
`connection_file` with the connection string (default: the variable AZURE_EVENT_HUBS_CONNECTION_STRING).
"""

import dataclasses
import re
import urllib.parse
import zoneinfo
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

from tailrace.errors import UsageError
from tailrace.sources import one_way
from tailrace.sources.one_way import Way

KINDS = ("slowlog", "audit", "errorlog", "general")
SERVER = "server"
CLOUDWATCH, TABLE, OBJECTS, HUB = "cloudwatch", "table", "objects", "event_hubs"
AWS_KEYS = ("region", "db_instance", "endpoint")
PULLED_KEYS = {
    "rds": (*AWS_KEYS, "file"),
    CLOUDWATCH: (*AWS_KEYS, "log_group", "stream", "since"),
    TABLE: ("defaults_file", "host", "archive"),
    OBJECTS: ("url", *AWS_KEYS, "account", "log_group", "since"),
    HUB: ("url", "db_instance", "endpoint", "connection_file", "since"),
}
"""The keys of each kind of pulled log, besides those of all kinds; the first one is required."""
PULLED_KINDS = tuple(PULLED_KEYS)
STORES = ("s3", "gs", "az")
SECRET_FILES = ("defaults_file", "connection_file")
HUB_URL = re.compile(r"eventhubs://[^/]+/[^/]+")
SOURCES_OF = {TABLE: ("slowlog", "general"), HUB: ("slowlog", "audit")}


class SourcesError(UsageError, ValueError):
    """The list is invalid; the message contains file, entry and what was expected."""


@dataclass(frozen=True)
class Source:
    """One watched log. The fields are those of the line record (schemas/lines.schema.json)."""

    instance: str
    source: str
    path: Path
    cluster: str
    tz: str = "UTC"
    format: str = "auto"


@dataclass(frozen=True)
class Server:
    """A server from which capture takes snapshots."""

    instance: str
    source: str
    dsn: str
    """Its address and account, without a password."""
    cluster: str
    password_file: Path | None = None
    digests: bool = False
    """Whether the counters of its statement digests are read from Performance Schema."""
    explain: bool = False
    """Whether its heaviest statements are explained: samples of them, unmasked, are sent to this server."""
    explain_dsn: str | None = None
    """The account for EXPLAIN; default: that of `dsn`, which then may read both accounts and data."""
    explain_password_file: Path | None = None

    def explained(self) -> "Server":
        """Returns the server with the account for EXPLAIN."""
        if self.explain_dsn is None:
            return self
        return dataclasses.replace(self, dsn=self.explain_dsn, password_file=self.explain_password_file)


@dataclass(frozen=True)
class PulledSource:
    """A log that the component pull reads from a service. Credentials are not part of the list."""

    instance: str
    source: str
    kind: str
    """rds, cloudwatch, table, objects or event_hubs."""
    region: str
    """rds, cloudwatch, objects of S3: the region of the service."""
    cluster: str
    db_instance: str
    """All kinds but table: name of the server at the service."""
    file: str = ""
    """rds: name of the live file at the service; empty for that of the kind of log."""
    tz: str = "UTC"
    format: str = "auto"
    endpoint: str = ""
    """All kinds but table: address of the service, if it is not the public one."""
    log_group: str = ""
    """cloudwatch, objects: name of the log group; empty for that to which RDS exports the kind of log."""
    stream: str = ""
    """cloudwatch: name of the stream, without a suffix; empty for `db_instance`."""
    since: str = ""
    """cloudwatch, objects, event_hubs: time of the first events, objects (last write) or messages (arrival)
    to read; empty for a day before the first visit."""
    defaults_file: str = ""
    """table: path of a MySQL option file with address and credentials."""
    host: str = ""
    """table: `host` or `host:port` instead of those of the option file."""
    archive: str = "mysql"
    """table: schema to which a rotation moves tables."""
    url: str = ""
    """objects: store, bucket and prefix; event_hubs: namespace and hub."""
    account: str = ""
    """objects: storage account of Azure."""
    connection_file: str = ""
    """event_hubs: file with the connection string; empty if it is in the environment of the puller."""


@dataclass(frozen=True)
class Listed:
    """The content of a list, in its order."""

    logs: tuple[Source, ...] = ()
    servers: tuple[Server, ...] = ()
    pulled: tuple[PulledSource, ...] = ()

    def means(self, other: "Listed") -> bool:
        """Returns whether both have the same entries, in any order."""
        return all(
            set(mine) == set(others)
            for mine, others in (
                (self.logs, other.logs),
                (self.servers, other.servers),
                (self.pulled, other.pulled),
            )
        )


def load(file: Path) -> list[Source]:
    """Reads the watched logs. Raises SourcesError."""
    return list(read(file).logs)


def load_servers(file: Path) -> list[Server]:
    """Reads the servers to poll. Raises SourcesError."""
    return list(read(file).servers)


def read(file: Path) -> Listed:
    """Reads the complete list. Raises SourcesError."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise SourcesError(f"{file}: cannot be read: {error}") from error
    return parse(file, content)


def parse(file: Path, content: bytes) -> Listed:
    """Parses the content of a list; paths in it are relative to the file. Raises SourcesError."""
    try:
        entries = yaml.safe_load(content) or []
    except (ValueError, yaml.YAMLError) as error:
        raise SourcesError(f"{file}: cannot be read: {error}") from error
    if not isinstance(entries, list):
        raise SourcesError(f"{file}: expected a list of logs, found {type(entries).__name__}")
    made = [_entry(file, f"{file}: log {number}", entry) for number, entry in enumerate(entries, 1)]
    logs = tuple(each for each in made if isinstance(each, Source))
    servers = tuple(each for each in made if isinstance(each, Server))
    pulled = tuple(each for each in made if isinstance(each, PulledSource))
    _require_one_way(file, logs, pulled)
    _require_distinct(file, [(log.instance, log.path) for log in logs])
    _require_distinct(file, [(server.instance, SERVER) for server in servers])
    _require_distinct(file, [(log.instance, f"{log.source} {log.file}".strip()) for log in pulled])
    return Listed(logs, servers, pulled)


def make_empty(file: Path) -> None:
    """Creates an empty list with instructions in comments, unless the file exists."""
    if not file.exists():
        explained = "".join(f"# {line}\n" if line else "#\n" for line in (__doc__ or "").strip().splitlines())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(explained)


def add(file: Path, more: list[Source | Server]) -> None:
    """Appends entries to the list, whose existing lines stay unchanged. Raises SourcesError."""
    entries = [_written(each) for each in more]
    before = file.read_text()
    load(file)
    with file.open("a") as out:
        out.write("" if before.endswith("\n") else "\n")
        out.write(yaml.safe_dump(entries, sort_keys=False))
    try:
        load(file)
    except SourcesError:
        file.write_text(before)
        raise SourcesError(
            f"{file}: logs can be added only to a list of lines that begin with `- `"
        ) from None


def _written(entry: Source | Server) -> dict[str, str | bool]:
    values = {name: value for name, value in dataclasses.asdict(entry).items() if value is not None}
    return {name: value if isinstance(value, bool) else str(value) for name, value in values.items()}


def _entry(file: Path, where: str, entry: object) -> Source | Server | PulledSource:
    try:
        made = _reader_of(entry)(file, where, entry)
        hash(made)
    except SourcesError:
        raise
    except (
        TypeError,
        ValueError,
        RuntimeError,
        OSError,
    ) as error:  # such as a list for a name, or a symlink loop
        raise SourcesError(f"{where}: cannot be used: {error}") from None
    return made


def _reader_of(entry: object) -> Callable[[Path, str, object], Source | Server | PulledSource]:
    if not isinstance(entry, dict):
        return _source
    if entry.get("source") == SERVER:
        return _server
    return _pulled if "kind" in entry else _source


def _pulled(file: Path, where: str, entry: dict) -> PulledSource:
    _require_one_of(where, "kind", entry["kind"], PULLED_KINDS)
    kind = entry["kind"]
    _require_keys(where, entry, PulledSource, ("instance", "source", "kind", PULLED_KEYS[kind][0]))
    _require_keys_of_kind(where, entry, kind)
    _require_one_of(where, "source", entry["source"], SOURCES_OF.get(kind, KINDS))
    _require_zone(where, entry.get("tz", "UTC"))
    if kind == OBJECTS:
        _require_url(where, entry)
    if kind == HUB and not HUB_URL.fullmatch(entry["url"]):
        raise SourcesError(f"{where}: url must be like eventhubs://NAMESPACE/HUB")
    if "since" in entry:
        _require_time(where, entry["since"])
    db_instance = "" if kind == TABLE else entry["instance"]
    defaults = {"cluster": entry["instance"], "region": "", "db_instance": db_instance}
    files = {name: str(_secret(file, entry[name])) for name in SECRET_FILES if name in entry}
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


def _require_time(where: str, text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise SourcesError(f"{where}: since must be a time such as 2026-11-26T12:00Z, not {text!r}") from None


def _require_one_of(where: str, name: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise SourcesError(f"{where}: {name} must be one of {', '.join(known)}, not {value!r}")


def _server(file: Path, where: str, entry: dict) -> Server:
    _require_keys(where, entry, Server, ("instance", "dsn"))
    for name in ("dsn", "explain_dsn"):
        if name in entry:
            _require_address(where, name, entry[name])
    for name in ("explain", "digests"):
        if not isinstance(entry.get(name, False), bool):
            raise SourcesError(f"{where}: {name} must be true or false, not {entry[name]!r}")
    secrets = {name: _secret(file, entry.get(name)) for name in ("password_file", "explain_password_file")}
    return Server(**{"cluster": entry["instance"], **entry, **secrets})


def _require_address(where: str, name: str, dsn: object) -> None:
    url = urllib.parse.urlsplit(str(dsn))
    if url.scheme not in ("mysql", "mariadb") or not url.username or url.password is not None:
        raise SourcesError(f"{where}: {name} must be like mysql://user@host:port/, with no password in it")


def _secret(file: Path, path: str | None) -> Path | None:
    return (file.parent / Path(path).expanduser()).resolve() if path else None


def _require_keys(where: str, entry: dict, kind: type, required: tuple[str, ...]) -> None:
    known = {field.name: field.type for field in dataclasses.fields(kind)}
    for key in entry:
        if key not in known:
            raise SourcesError(f"{where}: unknown key {key!r}; known are {', '.join(sorted(known))}")
    for key in required:
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise SourcesError(f"{where}: `{key}` is missing or not text")
    for key, value in entry.items():
        if known[key] is not bool and not isinstance(value, str):
            raise SourcesError(f"{where}: `{key}` must be text, not {value!r}; put it in quotes")


def _source(file: Path, where: str, entry: object) -> Source:
    if not isinstance(entry, dict):
        raise SourcesError(f"{where}: expected keys and values, found {entry!r}")
    _require_keys(where, entry, Source, ("instance", "source", "path"))
    _require_one_of(where, "source", entry["source"], KINDS)
    _require_zone(where, entry.get("tz", "UTC"))
    path = (file.parent / Path(entry["path"]).expanduser()).resolve()
    return Source(**{"cluster": entry["instance"], **entry, "path": path})


def _require_zone(where: str, tz: object) -> None:
    try:
        zoneinfo.ZoneInfo(str(tz))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise SourcesError(f"{where}: tz must be an IANA zone such as Europe/Berlin, not {tz!r}") from None


def _require_one_way(file: Path, logs: Sequence[Source], pulled: Sequence[PulledSource]) -> None:
    files = [Way(log.source, log.instance, one_way.FILE) for log in logs]
    services = [
        Way(log.source, log.instance, f"kind {log.kind}", (log.region, log.db_instance) if log.region else ())
        for log in pulled
    ]
    if problem := one_way.problem([*files, *services]):
        raise SourcesError(f"{file}: {problem}")


def _require_distinct(file: Path, listed: list[tuple[str, object]]) -> None:
    seen: set[tuple[str, object]] = set()
    for instance, what in listed:
        if (instance, what) in seen:
            raise SourcesError(f"{file}: {what} of {instance} is listed twice")
        seen.add((instance, what))
