"""The list of pulled logs that the product writes from sources.yaml, as JSON, and their clients."""

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import boto3
import botocore.config

from tailrace_pull import cloudwatch, option_file, performance_schema
from tailrace_pull.cloudwatch import CloudWatchLogs
from tailrace_pull.entry_rules import CLOUDWATCH, HUB, OBJECTS, OTLP, RDS, TABLE, require_valid
from tailrace_pull.error_log_table import ERROR_LOG, ErrorLogTable
from tailrace_pull.event_hubs import log_of_hub
from tailrace_pull.kafka_hub import KafkaHub
from tailrace_pull.log import PulledLog, SeparateFiles, StreamedLog
from tailrace_pull.log_tables import LIVE_TABLES, SCHEMA, SqlTables
from tailrace_pull.object_records import Wanted
from tailrace_pull.object_store import ObjectStore
from tailrace_pull.objects import LogOfObjects, UnpackedObject
from tailrace_pull.otlp_logs import Attributes
from tailrace_pull.otlp_topic import OtlpTopic
from tailrace_pull.performance_schema import PERFORMANCE_SCHEMA
from tailrace_pull.rds import EVERY, LIVE_FILES, RdsLogs
from tailrace_pull.reading import FilesOfLog, VisitedLog
from tailrace_pull.table_reading import TableReader
from tailrace_pull.topic_reading import LogOfTopic

SERVICES = {RDS: "rds", CLOUDWATCH: "logs"}
"""The service of each kind that has one, as boto3 names it."""
TIMEOUT_SECONDS = 30
OF_ERRORS = f"{ERROR_LOG.schema}/{ERROR_LOG.name}"
"""The part of the path of an error log that is read over SQL."""


class ConfigurationError(ValueError):
    """The list is invalid; the message contains the entry and what was expected."""


@dataclass(frozen=True)
class Entry:
    """One pulled log. Credentials come from the SDK's chain or from a file, never from the list.

    The fields are those of `tailrace.sources.pulled_entry.PulledSource`, which the puller cannot import
    (embedded/tests/test_pulled_entries.py compares both; schemas/contracts/pulled_entry.json has the cases).
    """

    instance: str
    cluster: str
    source: str
    kind: str
    region: str = ""
    db_instance: str = ""
    file: str = ""
    """rds: name of the live file at the service, or a prefix and `*`; default: the name for the kind of
    log."""
    tz: str = "UTC"
    format: str = "auto"
    endpoint: str = ""
    """rds, cloudwatch, objects, event_hubs: address of the service, if it is not the public one."""
    log_group: str = ""
    """cloudwatch, objects: default is the group to which RDS exports this kind of log."""
    stream: str = ""
    """cloudwatch: default is the name of the server at the service."""
    since: str = ""
    """cloudwatch, objects, event_hubs, otlp: time of the first events, of the last write of the first
    objects, or of the arrival of the first messages, to read; default: a day before the first visit."""
    defaults_file: str = ""
    """table: path of a MySQL option file with address and credentials."""
    host: str = ""
    """table: `host` or `host:port` instead of the values of the option file."""
    archive: str = SCHEMA
    """table: schema to which a rotation moves tables."""
    url: str = ""
    """objects: store, bucket and prefix; event_hubs: eventhubs://NAMESPACE/HUB; otlp:
    kafka://HOST:PORT,…/TOPIC."""
    account: str = ""
    """objects: storage account of Azure."""
    connection_file: str = ""
    """event_hubs: file with the connection string; default: the environment. otlp: file with properties of
    librdkafka; default: none."""
    match: str = ""
    """otlp: attributes of the records of the log, NAME=PATTERN,…"""

    def __post_init__(self) -> None:
        """Raises ValueError."""
        fields = dataclasses.fields(self)
        optional = {each.name: each.default for each in fields if each.default is not dataclasses.MISSING}
        require_valid(dataclasses.asdict(self), optional)

    @property
    def is_of_records(self) -> bool:
        """Whether its records are from Performance Schema, and no lines of a log."""
        return self.source == PERFORMANCE_SCHEMA

    def group(self) -> str:
        return self.log_group or cloudwatch.default_group(self.db_instance, self.source)

    def connection(self) -> Path | None:
        return Path(self.connection_file) if self.connection_file else None

    def live_file(self) -> str:
        return self.file or LIVE_FILES[self.source]

    def log(self) -> PulledLog:
        if self.kind == CLOUDWATCH:
            path = f"/{self.kind}/{self.region}/{self.db_instance}/{self.group().lstrip('/')}"
            return StreamedLog(self.instance, self.cluster, self.source, path, self.tz, self.format)
        if self.kind in (OBJECTS, HUB, OTLP):
            path = f"/{self.kind}/{self._place()}/{self.source}"
            return StreamedLog(self.instance, self.cluster, self.source, path, self.tz, self.format)
        if self.kind == RDS:
            path = f"/{self.kind}/{self.region}/{self.db_instance}/{self.live_file()}"
            if path.endswith(EVERY):
                path = path.rpartition("/")[0]
                return SeparateFiles(self.instance, self.cluster, self.source, path, self.tz, self.format)
        else:
            live = f"{SCHEMA}/{LIVE_TABLES[self.source]}" if self.source in LIVE_TABLES else OF_ERRORS
            path = f"/{self.kind}/{self.instance}/{live}"
        return PulledLog(self.instance, self.cluster, self.source, path, self.tz, self.format)

    def _place(self) -> str:
        """Returns where objects or messages are, as a part of a path. The addresses of the servers of a Kafka
        may change."""
        place = self.url.partition("://")[2].rstrip("/")
        if self.kind == OBJECTS:
            return f"{self.url.partition('://')[0]}/{place}"
        return place if self.kind == HUB else place.partition("/")[2]


def load(file: Path) -> list[Entry]:
    """Raises ConfigurationError."""
    try:
        found = [Entry(**each) for each in json.loads(file.read_text())]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigurationError(f"{file}: expected a JSON list of logs: {error}") from error
    _require_one_kind(found)
    _require_distinct(found)
    return found


def _require_one_kind(entries: list[Entry]) -> None:
    """Events read by two ways have different ids, so each would be counted twice."""
    kinds: dict[tuple[str, str], str] = {}
    for entry in entries:
        kind = kinds.setdefault((entry.instance, entry.source), entry.kind)
        if kind != entry.kind:
            raise ConfigurationError(
                f"{entry.source} of {entry.instance} is listed with kind {kind} and kind {entry.kind}"
            )


def _require_distinct(entries: list[Entry]) -> None:
    """Two logs with one key would share a state, and two that select the same records count them twice."""
    known: set[object] = set()
    for entry in entries:
        selection = (entry.url, entry.match) if entry.kind == OTLP else None
        for each in filter(None, (entry.log().key, selection)):
            if each in known:
                raise ConfigurationError(f"{entry.source} of {entry.instance} is listed twice: {each}")
            known.add(each)


class Clients:
    """Clients of services, one per service, region and address: making one takes a tenth of a second."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, str], object] = {}
        self._unpacked = UnpackedObject()

    def logs(self, entry: Entry, read_until: int = 0) -> VisitedLog:
        """`read_until` is the time up to which another entry read the log, in milliseconds; 0 without one.

        Raises ConfigurationError.
        """
        if entry.kind == TABLE:
            address = partial(option_file.read, Path(entry.defaults_file), entry.host)
            if entry.source not in LIVE_TABLES:
                return ErrorLogTable(address)
            return TableReader(SqlTables(address, entry.source, entry.archive))
        if entry.kind == CLOUDWATCH:
            client = self.client("logs", entry)
            since = _since(entry) or read_until
            return CloudWatchLogs(client, entry.group(), entry.stream or entry.db_instance, since)
        if entry.kind == OBJECTS:
            wanted = Wanted(entry.source, entry.db_instance, entry.group())
            since = _since(entry) or read_until
            return LogOfObjects(self.store(entry), wanted, since, self._unpacked)
        if entry.kind == HUB:
            wanted = Wanted(entry.source, entry.db_instance, "")
            return log_of_hub(self.hub(entry), wanted, _since(entry) or read_until)
        if entry.kind == OTLP:
            wanted, since = self.attributes(entry), _since(entry) or read_until
            decode = partial(performance_schema.contents, wanted) if entry.is_of_records else wanted.contents
            return LogOfTopic(self.topic(entry), entry.instance, wanted, decode, since)
        return FilesOfLog(RdsLogs(self.client("rds", entry), entry.db_instance, entry.live_file()))

    def store(self, entry: Entry) -> ObjectStore:
        """Raises ConfigurationError."""
        with _naming(entry):
            return ObjectStore(entry.url, entry.region, entry.account, entry.endpoint)

    def hub(self, entry: Entry) -> KafkaHub:
        """Raises ConfigurationError."""
        with _naming(entry):
            return KafkaHub(entry.url, entry.endpoint, entry.connection())

    def topic(self, entry: Entry) -> OtlpTopic:
        """Raises ConfigurationError."""
        with _naming(entry):
            return OtlpTopic(entry.url, entry.connection())

    def attributes(self, entry: Entry) -> Attributes:
        """Raises ConfigurationError."""
        with _naming(entry):
            return Attributes.parse(entry.match)

    def client(self, service: str, entry: Entry) -> object:
        """Returns a client of boto3. `endpoint` of the entry is the address of the log's own service."""
        endpoint = entry.endpoint if service == SERVICES.get(entry.kind) else ""
        key = (service, entry.region, endpoint)
        if key not in self._made:
            self._made[key] = boto3.client(
                service,
                region_name=entry.region,
                endpoint_url=endpoint or None,
                config=botocore.config.Config(
                    connect_timeout=TIMEOUT_SECONDS,
                    read_timeout=TIMEOUT_SECONDS,
                    max_pool_connections=16,
                    retries={"mode": "adaptive", "total_max_attempts": 3},
                ),
            )
        return self._made[key]


@contextmanager
def _naming(entry: Entry) -> Iterator[None]:
    """Turns a ValueError into a ConfigurationError that names the log and its instance."""
    try:
        yield
    except ValueError as error:
        raise ConfigurationError(f"{entry.source} of {entry.instance}: {error}") from error


def _since(entry: Entry) -> int:
    try:
        return cloudwatch.milliseconds(entry.since) if entry.since else 0
    except ValueError as error:
        raise ConfigurationError(f"since of {entry.source} of {entry.instance}: {error}") from error
