"""A hub of Azure Event Hubs through its Kafka endpoint.

Source: Azure Event Hubs for Apache Kafka: SASL/PLAIN with the user `$ConnectionString`, port 9093.
"""

import os
import re
from pathlib import Path

from tailrace_pull.kafka_topic import KafkaTopic, Terms
from tailrace_pull.remote import PermissionMissingError

URL = re.compile(r"eventhubs://([^/@?#]+)/([A-Za-z0-9._-]+)")
VARIABLE = "AZURE_EVENT_HUBS_CONNECTION_STRING"
PROTOCOLS = ("sasl_ssl", "sasl_plaintext", "plaintext")
RIGHT = "Listen"
"""The right that the policy of the connection string needs."""


class KafkaHub(KafkaTopic):
    """A hub."""

    def __init__(self, url: str, endpoint: str = "", connection_file: Path | None = None) -> None:
        """`url` is eventhubs://NAMESPACE/HUB; `endpoint` is PROTOCOL://HOST:PORT instead of the public
        address. The connection string is in the file, or in the environment. Raises ValueError."""
        parts = URL.fullmatch(url)
        if parts is None:
            raise ValueError(f"url must be eventhubs://NAMESPACE/HUB, not {url!r}")
        namespace, hub = parts.groups()
        at = endpoint or f"sasl_ssl://{namespace}.servicebus.windows.net:9093"
        self._protocol, _, address = at.partition("://")
        if self._protocol not in PROTOCOLS or not address:
            raise ValueError(f"endpoint must begin with {', '.join(PROTOCOLS)} and ://, not {endpoint!r}")
        terms = Terms(f"hub {hub} of {namespace}", "connection string", "policy", RIGHT)
        super().__init__(hub, address, terms)
        self._file = connection_file

    def identity(self) -> str:
        """Returns an empty text: Event Hubs does not publish that its hubs have ids."""
        return ""

    def security(self) -> dict[str, object]:
        """Returns protocol and login. Raises RemoteError."""
        if self._protocol == "plaintext":
            return {"security.protocol": self._protocol}
        login = {"sasl.mechanism": "PLAIN", "sasl.username": "$ConnectionString"}
        return {"security.protocol": self._protocol, **login, "sasl.password": self._connection()}

    def _connection(self) -> str:
        try:
            text = self._file.read_text() if self._file else os.environ.get(VARIABLE, "")
        except OSError as error:
            raise PermissionMissingError(f"{self._where}: {error.strerror}: {self._file}") from error
        if not text.strip():
            place = self._file or f"the variable {VARIABLE}"
            raise PermissionMissingError(f"{self._where}: {place} has no connection string")
        return text.strip()
