"""The context of every command on a machine with a local stack."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from prometheus_client.metrics_core import Metric

from tailrace.cli.context import CommandError, Context, Show
from tailrace.clickhouse.client import ClickHouse
from tailrace.dashboards.connections import Connections
from tailrace.dashboards.superset_client import Client
from tailrace.kafka.client import KafkaClient
from tailrace_local import clickhouse, health, java_build, kafka
from tailrace_local.components import superset
from tailrace_local.components.clickhouse import ClickHouse as ClickHouseComponent
from tailrace_local.components.reports import Reports
from tailrace_local.components.superset import Superset
from tailrace_local.supervisor import control, start


class LocalContext(Context):
    """An installation whose stack runs under the supervisor of this machine."""

    def clickhouse(self, user: str) -> ClickHouse:
        control.status(self.home)
        return clickhouse.connect(self.settings, self.home, user)

    def kafka(self, account: str) -> KafkaClient:
        return kafka.connect(self.settings, self.home, account)

    def superset(self) -> Client:
        if self.component_state(Superset.name) is None:
            raise CommandError("the stack runs without superset; start it, or name another with --url")
        return Superset(self.settings, self.home).client()

    def superset_address(self) -> str:
        return superset.address(self.settings, self.home)

    def superset_connections(self) -> Connections:
        return superset.connections(self.settings, self.home)

    def clickhouse_has_its_access(self) -> bool:
        return ClickHouseComponent(self.settings, self.home).has_its_access()

    def component_state(self, name: str) -> str | None:
        component = control.status(self.home).component(name)
        return component.state if component else None

    def restart(self, names: Sequence[str], show: Show) -> None:
        running = control.status(self.home)
        for name in names:
            if running.component(name):
                show(name, "restarting")
                control.restart(self.home, name)
        start.await_health(self.home, show)

    def health_metrics(self) -> Iterable[Metric]:
        return health.evaluated_metrics(self.settings, self.home)

    def send_report(self, name: str) -> str:
        return Reports(self.settings, self.home).send(name)

    def java_command_line(self) -> Path:
        return java_build.jar(self.settings, "cli.jar")
