"""The list of pulled logs that the product writes from sources.yaml, as JSON, and their clients."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import boto3
import botocore.config

from tailrace_pull import option_file
from tailrace_pull.log import PulledLog
from tailrace_pull.log_tables import LIVE_TABLES, SCHEMA, SqlTables
from tailrace_pull.rds import LIVE_FILES, RdsLogs
from tailrace_pull.reading import FileReader
from tailrace_pull.service import Reader
from tailrace_pull.table_reading import TableReader

RDS, TABLE = "rds", "table"
KINDS = (RDS, TABLE)
TIMEOUT_SECONDS = 30


class ConfigurationError(ValueError):
    """The list is invalid; the message contains the entry and what was expected."""


@dataclass(frozen=True)
class Entry:
    """One pulled log. Credentials come from the SDK's chain or from an option file, never from the list."""

    instance: str
    cluster: str
    source: str
    kind: str
    region: str = ""
    db_instance: str = ""
    file: str = ""
    """rds: name of the live file at the service; default: that of the kind of log."""
    tz: str = "UTC"
    format: str = "auto"
    endpoint: str = ""
    """rds: address of the service, if it is not the public one of the region."""
    defaults_file: str = ""
    """table: path of a MySQL option file with address and credentials."""
    host: str = ""
    """table: `host` or `host:port` instead of those of the option file."""
    archive: str = SCHEMA
    """table: schema to which a rotation moves tables."""

    def __post_init__(self) -> None:
        """Raises ValueError."""
        needed = {RDS: ("region", "db_instance"), TABLE: ("defaults_file",)}
        if self.kind not in needed:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if missing := [name for name in needed[self.kind] if not getattr(self, name)]:
            raise ValueError(f"{self.instance}: {missing[0]} is missing")

    def live_file(self) -> str:
        return self.file or LIVE_FILES[self.source]

    def log(self) -> PulledLog:
        path = (
            f"/{self.kind}/{self.region}/{self.db_instance}/{self.live_file()}"
            if self.kind == RDS
            else f"/{self.kind}/{self.instance}/{SCHEMA}/{LIVE_TABLES[self.source]}"
        )
        return PulledLog(self.instance, self.cluster, self.source, path, self.tz, self.format)


def load(file: Path) -> list[Entry]:
    """Raises ConfigurationError."""
    try:
        return [Entry(**each) for each in json.loads(file.read_text())]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigurationError(f"{file}: expected a JSON list of logs: {error}") from error


class Clients:
    """Clients of services, one per region and address: making one takes a tenth of a second."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], object] = {}

    def reader(self, entry: Entry) -> Reader:
        if entry.kind == TABLE:
            address = partial(option_file.read, Path(entry.defaults_file), entry.host)
            return TableReader(SqlTables(address, entry.source, entry.archive))
        client = self._client(entry.region, entry.endpoint)
        return FileReader(RdsLogs(client, entry.db_instance, entry.live_file()))

    def _client(self, region: str, endpoint: str) -> object:
        key = (region, endpoint)
        if key not in self._made:
            self._made[key] = boto3.client(
                "rds",
                region_name=region,
                endpoint_url=endpoint or None,
                config=botocore.config.Config(
                    connect_timeout=TIMEOUT_SECONDS,
                    read_timeout=TIMEOUT_SECONDS,
                    max_pool_connections=16,
                    retries={"mode": "adaptive", "total_max_attempts": 3},
                ),
            )
        return self._made[key]
