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
      digest_histograms: true      # also histograms of their latency (MySQL 8); default: false
      metadata_locks: true         # also sessions that wait for a metadata lock, each minute; default: false
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
A log that an OpenTelemetry Collector sends to a topic of Kafka is listed so:

    - instance: shop-db-10
      source: slowlog
      kind: otlp
      url: kafka://kafka-1:9092,kafka-2:9092/otlp_logs
      match: host.name=db-10,log.file.name=mysql-slow.log*   # attributes of its records; * is any text
      connection_file: /etc/tailrace/kafka.properties   # login, as properties of librdkafka; default: none

With `source: performance_schema` these are records of its receiver mysqlreceiver, or of Grafana Alloy.
"""

import dataclasses
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tailrace.sources import one_way, pulled_entry
from tailrace.sources.entry_keys import SourcesError, require_keys, require_one_of, require_zone, secret
from tailrace.sources.one_way import Way
from tailrace.sources.pulled_entry import KINDS, OTLP, PulledSource

SERVER = "server"


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
    digest_histograms: bool = False
    """Whether the histograms of the latency of its heaviest digests are read, too."""
    metadata_locks: bool = False
    """Whether sessions that wait for a metadata lock are read from Performance Schema."""
    explain: bool = False
    """Whether its heaviest statements are explained: samples of them, unmasked, are sent to this server."""
    explain_dsn: str | None = None
    """The account for EXPLAIN; default: the account of `dsn`, which then may read accounts and data."""
    explain_password_file: Path | None = None

    def explained(self) -> "Server":
        """Returns the server with the account for EXPLAIN."""
        if self.explain_dsn is None:
            return self
        return dataclasses.replace(self, dsn=self.explain_dsn, password_file=self.explain_password_file)


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
    _require_distinct(file, [pulled_entry.selection(log) for log in pulled if log.kind == OTLP])
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
    return pulled_entry.read if "kind" in entry else _source


def _server(file: Path, where: str, entry: dict) -> Server:
    require_keys(where, entry, Server, ("instance", "dsn"))
    for name in ("dsn", "explain_dsn"):
        if name in entry:
            _require_address(where, name, entry[name])
    for name in ("explain", "digests", "digest_histograms", "metadata_locks"):
        if not isinstance(entry.get(name, False), bool):
            raise SourcesError(f"{where}: {name} must be true or false, not {entry[name]!r}")
    if entry.get("digest_histograms") and not entry.get("digests"):
        raise SourcesError(f"{where}: digest_histograms needs digests: true, whose counters it uses")
    secrets = {name: secret(file, entry.get(name)) for name in ("password_file", "explain_password_file")}
    return Server(**{"cluster": entry["instance"], **entry, **secrets})


def _require_address(where: str, name: str, dsn: object) -> None:
    url = urllib.parse.urlsplit(str(dsn))
    if url.scheme not in ("mysql", "mariadb") or not url.username or url.password is not None:
        raise SourcesError(f"{where}: {name} must be like mysql://user@host:port/, with no password in it")


def _source(file: Path, where: str, entry: object) -> Source:
    if not isinstance(entry, dict):
        raise SourcesError(f"{where}: expected keys and values, found {entry!r}")
    require_keys(where, entry, Source, ("instance", "source", "path"))
    require_one_of(where, "source", entry["source"], KINDS)
    require_zone(where, entry.get("tz", "UTC"))
    path = (file.parent / Path(entry["path"]).expanduser()).resolve()
    return Source(**{"cluster": entry["instance"], **entry, "path": path})


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
