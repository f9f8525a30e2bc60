"""All settings of the local stack: name, default, unit and meaning are documented only here.

Settings come from the environment, which `Settings.from_environment` reads once at start; nothing else in the
package reads TAILRACE_* variables. The name of a setting is TAILRACE_ and the field's name in capitals.
`bin/tailrace settings` prints this table with the effective values.
"""

import dataclasses
import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.config import renamed, resources
from tailrace.config.renamed import BothGivenError, Renamed
from tailrace.errors import UsageError

PREFIX = "TAILRACE_"

DEFAULT_HOME = Path("~/.tailrace") if resources.IS_PACKAGED else resources.REPOSITORY / ".tailrace"

CLOSED = 0
"""The value of a port that closes the listener."""


class SettingsError(UsageError, ValueError):
    """A TAILRACE_* variable is unknown or its value is invalid; the message is one sentence."""


def _setting(
    default: object,
    meaning: str,
    unit: str = "",
    minimum: int | None = None,
    maximum: int | None = None,
    other: int | None = None,
) -> Any:
    metadata = {"meaning": meaning, "unit": unit, "minimum": minimum, "maximum": maximum, "other": other}
    return dataclasses.field(default=default, metadata=metadata)


def _port(default: int, meaning: str, other: int | None = None) -> Any:
    """`other` is an allowed value besides a port number."""
    return _setting(default, meaning, unit="TCP port", minimum=1024, maximum=65535, other=other)


@dataclass(frozen=True)
class Settings:
    """One immutable set of settings. Paths are absolute."""

    home: Path = _setting(DEFAULT_HOME, "directory of data, logs, secrets and run files")
    cache: Path = _setting(
        Path("~/.cache/tailrace"), "directory of installed components; shared by clones, survives clean-data"
    )
    sources: Path = _setting(
        Path(), "YAML list of the logs to watch; empty means sources.yaml in the home directory"
    )
    alerts_config: Path = _setting(
        Path(),
        "YAML of the channels for alerts; empty means alerts.yaml in the home directory, if it exists",
    )
    callbacks_config: Path = _setting(
        Path(),
        "YAML of tools that act on alerts; empty means callbacks.yaml in the home directory, if it exists",
    )
    reports_config: Path = _setting(
        Path(),
        "YAML of the recipients of reports; empty means reports.yaml in the home directory, if it exists",
    )
    access: Path = _setting(
        Path(),
        "YAML of the clusters, instances and databases that each audience of the dashboards sees; empty "
        "means access.yaml in the home directory, if it exists",
    )
    sso: Path = _setting(
        Path(),
        "YAML of the servers that authenticate users of the dashboards; empty means sso.yaml in the home "
        "directory, if it exists",
    )
    sources_poll_interval: int = _setting(
        1,
        "time between two checks of sources.yaml for changes; 0: only `tailrace up` applies them",
        unit="s",
        minimum=0,
    )
    fluent_bit: Path = _setting(
        Path(),
        "path of a Fluent Bit program, 1.8.15 or newer; empty means the fluent-bit on PATH, and without one "
        "1.8.15, which is built from source",
    )
    components: str = _setting("", "the components to run, separated by commas; empty means all of them")

    port_kafka: int = _port(19092, "Kafka's listener")
    port_kafka_internal: int = _port(
        19094, "Kafka's listener for the broker and its administration; only if secured"
    )
    port_kafka_controller: int = _port(19093, "Kafka's KRaft controller")
    port_clickhouse: int = _port(18123, "ClickHouse's HTTP listener")
    port_clickhouse_native: int = _port(
        CLOSED,
        "ClickHouse's native listener, which only servers of other shards need; 0 keeps it closed",
        CLOSED,
    )
    port_flink: int = _port(18081, "the normalize job's web UI and REST API")
    port_detect: int = _port(18082, "the detect job's web UI and REST API")
    port_superset: int = _port(18088, "Superset")
    port_api: int = _port(CLOSED, "the REST API; 0: it does not run", CLOSED)
    port_metrics: int = _port(18090, "metrics of all components, in Prometheus' format")
    port_callbacks: int = _port(18091, "requests of other tools that act on alerts")
    port_witness: int = _port(18092, "the witness of the transparency log")
    port_fluentbit: int = _port(12020, "Fluent Bit's health and metrics endpoint")

    memory_kafka: int = _setting(384, "Kafka's Java heap", unit="MiB", minimum=128)
    memory_clickhouse: int = _setting(1536, "ClickHouse's memory limit", unit="MiB", minimum=512)
    memory_flink: int = _setting(768, "the normalize job's Java heap", unit="MiB", minimum=256)
    memory_detect: int = _setting(384, "the detect job's Java heap", unit="MiB", minimum=128)

    jvm_options_flink: str = _setting(
        "",
        "additional options of the normalize job's JVM, separated by blanks, such as -XX:TieredStopAtLevel=1 "
        "for less processor time at the start and less throughput under load",
    )
    parallelism: int = _setting(
        2, "parallelism of the normalize job", unit="subtasks", minimum=1, maximum=128
    )
    checkpoint_interval: int = _setting(
        1000, "time between two checkpoints; rows become visible at a checkpoint", unit="ms", minimum=100
    )
    detect_parallelism: int = _setting(
        1, "parallelism of the detect job", unit="subtasks", minimum=1, maximum=128
    )
    detect_checkpoint_interval: int = _setting(
        30_000,
        "time between two checkpoints of the detect job; alerts do not wait for them",
        unit="ms",
        minimum=100,
    )
    alert_group_interval: int = _setting(
        600,
        "interval in which further alerts of a rule and entity increase the count of the first one",
        unit="s",
        minimum=1,
    )
    census_interval: int = _setting(10, "time between two censuses of the watched files", unit="s", minimum=1)
    host: str = _setting("", "name of this machine in signed ranges of logs; empty: its host name")
    sign_logs: int = _setting(
        1,
        "whether the census and pull sign the logs that they read (docs/SIGNING.md)",
        unit="(1: yes, 0: no)",
        minimum=0,
        maximum=1,
    )
    capture_poll_interval: int = _setting(
        60, "time between two polls of a server's accounts, grants and settings", unit="s", minimum=1
    )
    capture_interval: int = _setting(
        3600, "time between two complete snapshots of a server", unit="s", minimum=1
    )
    gap_timeout: int = _setting(
        30, "time after which a missing byte range is recorded as a gap", unit="s", minimum=1
    )
    innodb_log_capacity: str = _setting(
        "",
        "size of the InnoDB redo logs of servers whose monitor output lacks it, such as db-1=1073741824, "
        "*=100663296; for the checkpoint age",
        unit="bytes",
    )

    pseudonyms: int = _setting(
        0,
        "whether rows contain pseudonyms instead of users and clients (docs/ERASURE.md); read it before you "
        "switch it on: reports that compare names then find less",
        unit="(1: yes, 0: no)",
        minimum=0,
        maximum=1,
    )

    transparency_interval: int = _setting(
        60, "time between two checkpoints of the transparency log", unit="s", minimum=1
    )

    archive: str = _setting(
        "", "where closed days are archived: a directory, or s3://BUCKET/PREFIX; empty: there is no archive"
    )
    archive_endpoint: str = _setting(
        "", "URL of an S3-compatible store for the archive; empty: Amazon S3, or AWS_ENDPOINT_URL"
    )
    archive_region: str = _setting("", "region of the archive's bucket; empty: AWS_REGION")
    archive_secret_file: Path = _setting(
        Path(),
        "file with the id and the key of the archive's bucket, one a line; empty: AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, or the role of this machine",
    )
    archive_delay: int = _setting(
        12, "time after the end of a day before it is archived", unit="hours", minimum=1, maximum=720
    )

    api_requests_per_minute: int = _setting(
        600, "requests per minute of one token of the REST API", unit="requests", minimum=1
    )
    api_trusted_proxies: str = _setting(
        "",
        "addresses or networks of the reverse proxies of the REST API, separated by commas: their header "
        "X-Forwarded-For names the client",
    )

    superset_trusted_proxies: str = _setting(
        "",
        "addresses or networks of the reverse proxies of Superset, separated by commas: their headers "
        "X-Forwarded-For and X-Forwarded-Proto name the client and the scheme",
    )
    risk_half_life: int = _setting(
        7,
        "time after which an alert contributes half of its points to a risk score",
        unit="days",
        minimum=1,
        maximum=365,
    )
    health_interval: int = _setting(
        5,
        "time between two health checks of a component; three consecutive failures make it unhealthy",
        unit="s",
        minimum=1,
    )
    restart_backoff_max: int = _setting(
        30, "longest pause before a component that exits repeatedly is restarted", unit="s", minimum=1
    )

    log_bytes: int = _setting(
        10_000_000, "size at which a component's log is rotated", unit="bytes", minimum=1000
    )
    log_files: int = _setting(3, "number of rotated logs per component", unit="files", minimum=1, maximum=99)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Returns the effective settings, and prints a warning for each old name.

        Raises SettingsError for an unknown name, an invalid value, or a setting with its old and new name.
        """
        fields = {variable(field): field for field in dataclasses.fields(cls)}
        given = {name: text for name, text in environment.items() if name.startswith(PREFIX)}
        for name in given:
            _require_known(name, fields)
        chosen = {
            fields[n].name: _value(n, fields[n], t) for n, t in _under_new_names(given).items() if n in fields
        }
        return cls(**{"cache": _default_cache(environment), **chosen})._with_absolute_paths()

    def _with_absolute_paths(self) -> "Settings":
        home = self.home.expanduser().resolve()
        sources = self.sources if self.sources != Path() else home / "sources.yaml"
        access = self.access if self.access != Path() else home / "access.yaml"
        sso = self.sso if self.sso != Path() else home / "sso.yaml"
        alerts_config = self.alerts_config if self.alerts_config != Path() else home / "alerts.yaml"
        callbacks = self.callbacks_config if self.callbacks_config != Path() else home / "callbacks.yaml"
        reports_config = self.reports_config if self.reports_config != Path() else home / "reports.yaml"
        return dataclasses.replace(
            self,
            home=home,
            cache=self.cache.expanduser().resolve(),
            fluent_bit=self.fluent_bit.expanduser().resolve() if self.fluent_bit != Path() else Path(),
            sources=sources.expanduser().resolve(),
            access=access.expanduser().resolve(),
            sso=sso.expanduser().resolve(),
            alerts_config=alerts_config.expanduser().resolve(),
            callbacks_config=callbacks.expanduser().resolve(),
            reports_config=reports_config.expanduser().resolve(),
        )

    def chosen_components(self) -> frozenset[str]:
        """The names of the components to run; empty means all."""
        return frozenset(name.strip() for name in self.components.split(",") if name.strip())

    def environment(self) -> dict[str, str]:
        """Returns these settings as environment variables for a child process.

        Old names are empty, which hides those that the child would inherit.
        """
        fields = dataclasses.fields(self)
        return {**dict.fromkeys(RENAMED, ""), **{variable(f): as_text(getattr(self, f.name)) for f in fields}}


RENAMED = {
    "TAILRACE_PARTS": Renamed("TAILRACE_COMPONENTS"),
    "TAILRACE_RESTART_PAUSE": Renamed("TAILRACE_RESTART_BACKOFF_MAX"),
    "TAILRACE_ALERT_GROUP": Renamed("TAILRACE_ALERT_GROUP_INTERVAL"),
    "TAILRACE_SOURCES_POLL": Renamed("TAILRACE_SOURCES_POLL_INTERVAL"),
    "TAILRACE_CAPTURE_POLL": Renamed("TAILRACE_CAPTURE_POLL_INTERVAL"),
}

# Variables that other programs of this repository read. They are no settings of the stack.
READ_ELSEWHERE = {
    "TAILRACE_CORPORA": "where tests find the corpora of real logs",
    "TAILRACE_SERVER_PASSWORD": "password of the server that `tailrace doctor` connects to",
}


def as_text(value: object) -> str:
    """Returns the text of a setting's value in the environment; empty for a path that is not set."""
    return "" if value == Path() else str(value)


def variable(field: dataclasses.Field) -> str:
    """The environment variable of a field of Settings."""
    return PREFIX + field.name.upper()


def _default_cache(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CACHE_HOME") or "~/.cache") / "tailrace"


def _under_new_names(given: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that are not empty, under their new names."""
    try:
        return renamed.with_new_names(
            {name: text for name, text in given.items() if text}, RENAMED, renamed.to_stderr
        )
    except BothGivenError as error:
        raise SettingsError(str(error)) from None


def _require_known(name: str, fields: Mapping[str, dataclasses.Field]) -> None:
    if name in fields or name in RENAMED or name in READ_ELSEWHERE:
        return
    nearest = difflib.get_close_matches(name.upper(), fields, n=1, cutoff=0)[0]
    raise SettingsError(f"unknown setting {name}; the nearest known one is {nearest}")


def _value(name: str, field: dataclasses.Field, text: str) -> Path | int | str:
    if field.type is Path:
        return Path(text)
    if field.type is int:
        return _whole_number(name, field.metadata, text)
    return text


def _whole_number(name: str, limits: Mapping, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise SettingsError(f"{name} must be a whole number ({limits['unit']}), not {text!r}") from None
    if not _within(limits, number):
        raise SettingsError(f"{name} must be {_expected(limits)} {limits['unit']}, not {number}")
    return number


def _within(limits: Mapping, number: int) -> bool:
    minimum, maximum, other = limits["minimum"], limits["maximum"], limits["other"]
    if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        return number == other
    return True


def _expected(limits: Mapping) -> str:
    minimum, maximum, other = limits["minimum"], limits["maximum"], limits["other"]
    numbers = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
    return numbers if other is None else f"{other} or {numbers}"
