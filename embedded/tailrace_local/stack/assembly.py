"""The list of all components of the stack."""

from tailrace.config.home import Home
from tailrace.config.settings import Settings, SettingsError
from tailrace_local.components.api import Api
from tailrace_local.components.archive import Archive
from tailrace_local.components.callbacks import Callbacks
from tailrace_local.components.capture import Capture
from tailrace_local.components.census import Census
from tailrace_local.components.clickhouse import ClickHouse
from tailrace_local.components.delivery import Delivery
from tailrace_local.components.detect import Detect
from tailrace_local.components.evidence import Evidence
from tailrace_local.components.explain import Explain
from tailrace_local.components.facts import Facts
from tailrace_local.components.fingerprint import Fingerprint
from tailrace_local.components.flink import Flink
from tailrace_local.components.fluentbit import FluentBit
from tailrace_local.components.forwarding import Forwarding
from tailrace_local.components.kafka import Kafka
from tailrace_local.components.metrics import Metrics
from tailrace_local.components.pull import Pull
from tailrace_local.components.repair import Repair
from tailrace_local.components.reports import Reports
from tailrace_local.components.superset import Superset
from tailrace_local.components.transparency import Transparency
from tailrace_local.components.witness import Witness
from tailrace_local.supervisor.component import Component

COMPONENTS: tuple[type[Component], ...] = (
    *(Kafka, ClickHouse, Flink, Detect, Census, Pull, Repair, Capture, Explain, FluentBit, Facts),
    *(Superset, Evidence, Fingerprint, Delivery, Callbacks, Forwarding, Reports, Api, Metrics),
    *(Witness, Transparency, Archive),
)


def assemble(settings: Settings, home: Home) -> list[Component]:
    """Returns the components to run, in the order of their display. Raises SettingsError for an unknown
    component."""
    known = {component.name: component for component in COMPONENTS}
    chosen = settings.chosen_components() or known.keys()
    if unknown := sorted(chosen - known.keys()):
        raise SettingsError(
            f"TAILRACE_COMPONENTS: there is no component {unknown[0]}; there are {', '.join(known)}"
        )
    wanted = [component(settings, home) for name, component in known.items() if name in chosen]
    return [
        component
        for component in wanted
        if component.configured() or component.name in settings.chosen_components()
    ]
