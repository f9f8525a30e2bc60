"""What every command gets: settings, the home directory, and the servers that it may use."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.errors import ReportedError

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from tailrace.clickhouse.client import ClickHouse
    from tailrace.dashboards.connections import Connections
    from tailrace.dashboards.superset_client import Client
    from tailrace.kafka.client import KafkaClient

Show = Callable[[str, str], None]
"""Called with a component's name and what it does now."""


class CommandError(ReportedError):
    """What was asked for cannot be done; the message is the sentence to show."""


class NotRunningError(Exception):
    """No stack runs for this home directory; the message is the sentence to show."""


@dataclass(frozen=True)
class Context:
    """An installation without a stack on this machine. The package tailrace_local derives one with a stack.

    Everything that needs the stack raises NotRunningError.
    """

    settings: Settings
    home: Home

    def clickhouse(self, user: str) -> "ClickHouse":
        """The running stack's ClickHouse as one of its users. Raises NotRunningError."""
        self._no_stack()

    def kafka(self, account: str) -> "KafkaClient":
        """The stack's Kafka as one of its accounts. Raises NotRunningError."""
        self._no_stack()

    def superset(self) -> "Client":
        """A session of the administrator at the stack's Superset. Raises NotRunningError, CommandError."""
        self._no_stack()

    def superset_address(self) -> str:
        """The URL of the stack's dashboards. Raises NotRunningError."""
        self._no_stack()

    def superset_connections(self) -> "Connections":
        """How the stack's Superset reaches ClickHouse. Raises NotRunningError."""
        self._no_stack()

    def clickhouse_has_its_access(self) -> bool:
        """Whether ClickHouse's users were made by access.yaml as it is now. Raises NotRunningError."""
        self._no_stack()

    def component_state(self, name: str) -> str | None:
        """The state of a component, such as `healthy`; None if the stack has none of that name.

        Raises NotRunningError.
        """
        self._no_stack()

    def restart(self, names: Sequence[str], show: Show) -> None:
        """Restarts those of the components that run, and waits until all are healthy.

        Raises NotRunningError.
        """
        self._no_stack()

    def health_metrics(self) -> Iterable["Metric"]:
        """The metrics that the alerting rules of health/alerts.yaml evaluate. Raises NotRunningError."""
        self._no_stack()

    def send_report(self, name: str) -> str:
        """Draws and sends a report; returns why it could not, or nothing. Raises NotRunningError."""
        self._no_stack()

    def java_command_line(self) -> Path:
        """The jar of the Java command line. Raises CommandError if none is installed."""
        from tailrace.cli import java_command_line

        jar = java_command_line.installed_jar(self.settings)
        if jar is None:
            raise CommandError(f"the Java command line is not installed in {self.settings.cache}")
        return jar

    def _no_stack(self) -> NoReturn:
        raise NotRunningError(
            f"no stack is running in {self.home.root}: the package tailrace-local, which starts one, "
            "is not installed"
        )
