"""The topic of Kafka to which an OpenTelemetry Collector sends logs."""

import re
from pathlib import Path

from tailrace_pull.kafka_topic import KafkaTopic, Terms
from tailrace_pull.remote import PermissionMissingError

URL = re.compile(r"kafka://([^/@?#]+)/([A-Za-z0-9._-]+)")
RIGHT = "READ"
"""The right to the topic that the account of the puller needs; it includes DESCRIBE."""
ALLOWED = ("security.protocol", "sasl.", "ssl.", "client.id", "enable.ssl.")
"""What the names of properties of librdkafka begin with that a connection file may have."""


class OtlpTopic(KafkaTopic):
    """A topic with logs in OTLP."""

    def __init__(self, url: str, connection_file: Path | None = None) -> None:
        """`url` is kafka://HOST:PORT,…/TOPIC. The file has properties of librdkafka, such as
        `sasl.username=tailrace`, one a line; without one there is no login. Raises ValueError."""
        parts = URL.fullmatch(url)
        if parts is None:
            raise ValueError(f"url must be kafka://HOST:PORT,…/TOPIC, not {url!r}")
        servers, topic = parts.groups()
        super().__init__(topic, servers, Terms(f"topic {topic} of {servers}", "login", "account", RIGHT))
        self._file = connection_file

    def security(self) -> dict[str, object]:
        """Returns the properties of the file. Raises RemoteError."""
        if self._file is None:
            return {}
        try:
            lines = self._file.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise PermissionMissingError(f"{self._where}: {reason}: {self._file}") from error
        written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
        return dict(self._property(line) for line in written)

    def _property(self, line: str) -> tuple[str, str]:
        """Returns name and value. A message never contains the value, which may be a password."""
        name, is_property, value = (part.strip() for part in line.partition("="))
        if not is_property or not name.startswith(ALLOWED):
            raise PermissionMissingError(
                f"{self._where}: {self._file}: expected NAME=VALUE with a name that begins with"
                f" {', '.join(ALLOWED)}, found {name[:40] if is_property else 'no ='}"
            )
        return name, value
