"""Reads the settings of the repair on a database server from its environment.

The variables are those of collectors/collector.env and collectors/repair.env, which the unit
tailrace-repair.service loads. So the repair has the same logs as Fluent Bit and the census.
"""

from collections.abc import Mapping
from glob import has_magic
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import UsageError
from tailrace.kafka.client import KafkaClient
from tailrace.sources.pulled_entry import KINDS
from tailrace.sources.sources_file import Source

PROPERTIES = {
    "TAILRACE_KAFKA_SECURITY_PROTOCOL": "security.protocol",
    "TAILRACE_KAFKA_CA_FILE": "ssl.ca.location",
    "TAILRACE_KAFKA_CERTIFICATE_FILE": "ssl.certificate.location",
    "TAILRACE_KAFKA_KEY_FILE": "ssl.key.location",
    "TAILRACE_KAFKA_KEY_PASSWORD": "ssl.key.password",
    "TAILRACE_KAFKA_SASL_MECHANISM": "sasl.mechanism",
    "TAILRACE_KAFKA_SASL_USERNAME": "sasl.username",
    "TAILRACE_KAFKA_SASL_PASSWORD": "sasl.password",
}
"""librdkafka's names of the variables of collectors/fluent-bit/kafka.conf."""

Environment = Mapping[str, str]


def logs(environment: Environment) -> list[Source]:
    """Returns the logs of the server. Raises UsageError if there is none, and for a pattern."""
    instance = _required(environment, "TAILRACE_INSTANCE")
    found = [
        Source(
            instance,
            kind,
            Path(path.strip()),
            environment.get("TAILRACE_CLUSTER") or instance,
            environment.get("TAILRACE_TZ") or "UTC",
            environment.get(f"TAILRACE_{kind.upper()}_FORMAT") or "auto",
        )
        for kind in KINDS
        for path in environment.get(f"TAILRACE_{kind.upper()}_PATH", "").split(",")
        if path.strip()
    ]
    if not found:
        raise UsageError("expected a path in one of TAILRACE_{SLOWLOG,AUDIT,ERRORLOG,GENERAL}_PATH")
    for log in found:
        if has_magic(str(log.path)):
            raise UsageError(f"{log.path}: the repair needs the paths of the files, not a pattern")
    return found


def kafka(environment: Environment) -> KafkaClient:
    """Raises UsageError."""
    properties = {
        PROPERTIES[name]: value for name, value in environment.items() if value and name in PROPERTIES
    }
    return KafkaClient(_required(environment, "TAILRACE_KAFKA_BROKERS"), properties)


def clickhouse(environment: Environment) -> ClickHouse:
    """Raises UsageError."""
    return ClickHouse(
        _required(environment, "TAILRACE_CLICKHOUSE_URL"),
        environment.get("TAILRACE_CLICKHOUSE_USER") or "repair",
        _required(environment, "TAILRACE_CLICKHOUSE_PASSWORD"),
    )


def _required(environment: Environment, name: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise UsageError(f"expected a value of {name}")
    return value
