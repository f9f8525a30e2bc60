"""The context of every command: settings, the home directory, and access to servers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tailrace.config import command_line_jar
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.errors import NotRunningError, ReportedError

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from tailrace.clickhouse.client import ClickHouse
    from tailrace.dashboards.connections import Connections
    from tailrace.dashboards.superset_client import Client
    from tailrace.kafka.client import KafkaClient

UNKNOWN_STATE = "unknown"
"""The state of a component that runs elsewhere."""
Show = Callable[[str, str], None]
"""Called with a component's name and its current step."""


class CommandError(ReportedError):
    """The command cannot be executed; the message is shown to the user."""


@dataclass(frozen=True)
class Context:
    """An installation without a stack on this machine. The package tailrace_local derives one with a stack.

    Everything that needs the stack raises NotRunningError.
    """

    settings: Settings
    home: Home
    commands: Mapping[str, str] = field(default_factory=dict)
    """The modules of all Python commands by name, of which `tailrace completion` makes a script."""

    @property
    def secrets(self) -> Path:
        """The directory of passwords and keys. It may not exist."""
        return self.home.root / "secrets"

    def clickhouse(self, user: str) -> "ClickHouse":
        """Returns the running stack's ClickHouse as one of its users. Raises NotRunningError."""
        self._no_stack()

    def kafka(self, account: str) -> "KafkaClient":
        """Returns the stack's Kafka as one of its accounts. Raises NotRunningError."""
        self._no_stack()

    def superset(self) -> "Client":
        """Returns an administrator's session at the stack's Superset. Raises NotRunningError,
        CommandError."""
        self._no_stack()

    def superset_address(self) -> str:
        """Returns the URL of the stack's dashboards. Raises NotRunningError."""
        self._no_stack()

    def superset_connections(self) -> "Connections":
        """Returns the stack's connections from Superset to ClickHouse. Raises NotRunningError."""
        self._no_stack()

    def clickhouse_has_its_access(self) -> bool:
        """Returns whether ClickHouse's users match the current access.yaml. Raises NotRunningError."""
        self._no_stack()

    def component_state(self, name: str) -> str | None:
        """Returns the state of a component, such as `healthy`; None if there is no such component.

        Raises NotRunningError.
        """
        self._no_stack()

    def restart(self, names: Sequence[str], show: Show) -> None:
        """Restarts those components that run, and waits until all are healthy. The last one is stopped first.

        Raises NotRunningError.
        """
        self._no_stack()

    def health_metrics(self) -> Iterable["Metric"]:
        """Returns the metrics that the alerting rules of health/alerts.yaml evaluate. Raises
        NotRunningError."""
        self._no_stack()

    def send_report(self, name: str) -> str:
        """Renders and sends a report; returns the reason of a failure, or nothing. Raises NotRunningError."""
        self._no_stack()

    def java_command_line(self) -> Path:
        """Returns the jar of the Java command line. Raises CommandError if none is installed."""
        jar = command_line_jar.installed(self.settings)
        if jar is None:
            raise CommandError(
                f"the Java command line is not installed in {self.settings.cache}; "
                "`tailrace up` in a source checkout installs it"
            )
        return jar

    def _no_stack(self) -> NoReturn:
        raise NotRunningError(
            f"no stack is running in {self.home.root}: the package tailrace-local, which starts one, "
            "is not installed"
        )
