"""The one place that knows which parts the stack has."""

from tailrace.config.home import Home
from tailrace.config.settings import Settings, SettingsError
from tailrace_local.components.capture import Capture
from tailrace_local.components.census import Census
from tailrace_local.components.clickhouse import ClickHouse
from tailrace_local.components.delivery import Delivery
from tailrace_local.components.detect import Detect
from tailrace_local.components.explain import Explain
from tailrace_local.components.facts import Facts
from tailrace_local.components.flink import Flink
from tailrace_local.components.fluentbit import FluentBit
from tailrace_local.components.kafka import Kafka
from tailrace_local.components.metrics import Metrics
from tailrace_local.components.reports import Reports
from tailrace_local.components.superset import Superset
from tailrace_local.supervisor.component import Component

COMPONENTS: tuple[type[Component], ...] = (
    *(Kafka, ClickHouse, Flink, Detect, Census, Capture, Explain, FluentBit, Facts),
    *(Superset, Delivery, Reports, Metrics),
)


def assemble(settings: Settings, home: Home) -> list[Component]:
    """The parts to run, in a good order to show. Raises SettingsError for a part that does not exist."""
    known = {part.name: part for part in COMPONENTS}
    chosen = settings.chosen_parts() or known.keys()
    if unknown := sorted(chosen - known.keys()):
        raise SettingsError(f"TAILRACE_PARTS: there is no part {unknown[0]}; there are {', '.join(known)}")
    wanted = [part(settings, home) for name, part in known.items() if name in chosen]
    return [part for part in wanted if part.configured() or part.name in settings.chosen_parts()]
