"""The one place that knows which parts the stack has."""

from tailrace.home import Home
from tailrace.parts.capture import Capture
from tailrace.parts.census import Census
from tailrace.parts.clickhouse import ClickHouse
from tailrace.parts.delivery import Delivery
from tailrace.parts.detect import Detect
from tailrace.parts.explain import Explain
from tailrace.parts.facts import Facts
from tailrace.parts.flink import Flink
from tailrace.parts.fluentbit import FluentBit
from tailrace.parts.kafka import Kafka
from tailrace.parts.metrics import Metrics
from tailrace.parts.reports import Reports
from tailrace.parts.superset import Superset
from tailrace.settings import Settings, SettingsError
from tailrace.stack.part import Part

PARTS: tuple[type[Part], ...] = (
    *(Kafka, ClickHouse, Flink, Detect, Census, Capture, Explain, FluentBit, Facts),
    *(Superset, Delivery, Reports, Metrics),
)


def assemble(settings: Settings, home: Home) -> list[Part]:
    """The parts to run, in a good order to show. Raises SettingsError for a part that does not exist."""
    known = {part.name: part for part in PARTS}
    chosen = settings.chosen_parts() or known.keys()
    if unknown := sorted(chosen - known.keys()):
        raise SettingsError(f"TAILRACE_PARTS: there is no part {unknown[0]}; there are {', '.join(known)}")
    wanted = [part(settings, home) for name, part in known.items() if name in chosen]
    return [part for part in wanted if part.configured() or part.name in settings.chosen_parts()]
