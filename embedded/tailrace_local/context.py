"""The context of every command on a machine with a local stack."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tailrace.cli.context import CommandError, Context, Show
from tailrace_local.supervisor import control

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from tailrace.clickhouse.client import ClickHouse
    from tailrace.dashboards.connections import Connections
    from tailrace.dashboards.superset_client import Client
    from tailrace.kafka.client import KafkaClient


class LocalContext(Context):
    """An installation whose stack runs under the supervisor of this machine.

    Methods import what they need, so that a command does not load other components.
    """

    def clickhouse(self, user: str) -> "ClickHouse":
        from tailrace_local import clickhouse

        control.status(self.home)
        return clickhouse.connect(self.settings, self.home, user)

    def kafka(self, account: str) -> "KafkaClient":
        from tailrace_local import kafka

        return kafka.connect(self.settings, self.home, account)

    def superset(self) -> "Client":
        from tailrace_local.components.superset import Superset

        if self.component_state(Superset.name) is None:
            raise CommandError(
                "the stack runs without superset; start it with: tailrace up, or name another with --url"
            )
        return Superset(self.settings, self.home).client()

    def superset_address(self) -> str:
        from tailrace_local.components import superset

        return superset.address(self.settings, self.home)

    def superset_connections(self) -> "Connections":
        from tailrace_local.components import superset

        return superset.connections(self.settings, self.home)

    def clickhouse_has_its_access(self) -> bool:
        from tailrace_local.components.clickhouse import ClickHouse

        return ClickHouse(self.settings, self.home).has_its_access()

    def component_state(self, name: str) -> str | None:
        component = control.status(self.home).component(name)
        return component.state if component else None

    def restart(self, names: Sequence[str], show: Show) -> None:
        from tailrace_local.stack import start

        running = [name for name in names if self.component_state(name)]
        stopped: list[str] = []
        try:
            # Fluent Bit loses the lines in its queue if it must end while Kafka is away.
            for name in reversed(running):
                show(name, "restarting")
                stopped.append(name)
                control.stop_component(self.home, name)
        finally:
            for name in reversed(stopped):
                control.start_component(self.home, name)
        start.await_health(self.home, show)

    def health_metrics(self) -> Iterable["Metric"]:
        from tailrace_local import health

        return health.evaluated_metrics(self.settings, self.home)

    def send_report(self, name: str) -> str:
        from tailrace_local.components.reports import Reports

        return Reports(self.settings, self.home).send(name)

    def java_command_line(self) -> Path:
        from tailrace_local import java_build

        return java_build.jar(self.settings, "cli.jar")
