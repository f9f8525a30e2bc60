"""A separate real stack for tests, with its home directory and ports, and the shared cache of components."""

import http.client
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from e2e import collector_state
from e2e.limits import LIMIT_SECONDS, warn_if_long
from e2e.workload.writer import LogWriter
from sql.tests.clickhouse_servers import copy_migrated_store, expect_few_rows
from tailrace.clickhouse.client import ClickHouse
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.errors import NotRunningError
from tailrace.sources import sources_file
from tailrace.sources.sources_file import Source
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.stack import assembly
from tailrace_local.stack import start as stack_start
from tailrace_local.supervisor import control, procfs
from tailrace_local.supervisor.control import ComponentStatus

PARTS = ("kafka", "clickhouse", "flink", "census", "fluentbit")
COLLECTORS = ("census", "fluentbit")
PORTS = ("KAFKA", "KAFKA_CONTROLLER", "CLICKHOUSE", "FLINK", "SUPERSET", "FLUENTBIT")
POLL_SECONDS = 0.2
PAUSES = 5
PAUSE_SECONDS = 2
"""The pause between two evaluations of a condition: this many times its duration, up to this many seconds."""
WAITED_SHARE = 0.1
LONGEST_PAUSE_SECONDS = 5
"""After a long wait the pause is at least this share of it, up to this many seconds."""
QUICK = {
    # A job in a test starts often and is never busy for long.
    "jvm_options_flink": "-XX:TieredStopAtLevel=1",
    # Half of what an idle stack costs are checkpoints.
    "checkpoint_interval": "2000",
    "health_interval": "2",
    "restart_backoff_max": "1",
    "census_interval": "3",
    "gap_timeout": "10",
}
"""Settings of every stack, unless a test overrides them: timeouts of minutes are reduced to seconds."""


class Stack:
    """Starts, stops, kills and queries one stack. `first_port` and the five after it must be free."""

    def __init__(
        self,
        directory: Path,
        first_port: int,
        components: Iterable[str] = PARTS,
        is_migrated: bool = True,
        few_rows: bool = True,
        **settings: str,
    ) -> None:
        """`is_migrated`: ClickHouse begins with a copied schema, which costs less than all migrations.

        `few_rows`: ClickHouse neither compiles nor divides queries. As in production if False.
        """
        self._begins_migrated = is_migrated and "clickhouse" in components
        self._has_few_rows = few_rows
        environment = {
            "HOME": os.environ["HOME"],
            "TAILRACE_HOME": str(directory),
            "TAILRACE_COMPONENTS": ",".join(components),
            "TAILRACE_SOURCES_POLL_INTERVAL": "0",  # a test decides when lists are applied
            **{
                f"TAILRACE_PORT_{component}": str(first_port + number)
                for number, component in enumerate(PORTS)
            },
            **{f"TAILRACE_{name.upper()}": value for name, value in {**QUICK, **settings}.items()},
        }
        for name in ("TAILRACE_CACHE", "XDG_CACHE_HOME", "TAILRACE_FLUENT_BIT"):
            if name in os.environ:
                environment[name] = os.environ[name]
        self.settings = Settings.from_environment(environment)
        self.home = Home(self.settings.home)
        sources_file.make_empty(self.settings.sources)

    def up(self) -> None:
        """Installs what is missing and starts all parts; returns when they are healthy."""
        self.copy_schema()
        if self._has_few_rows:
            expect_few_rows(self.home)
        stack_start.start_stack(
            self.settings, self.home, lambda component, doing: print(f"{component}: {doing}")
        )

    def copy_schema(self) -> None:
        """Gives a stack without data the store of a migrated ClickHouse."""
        store = self.home.data("clickhouse") / "store"
        if self._begins_migrated and not store.exists():
            copy_migrated_store(store, self.settings.cache)

    def down(self) -> None:
        """Stops all components."""
        try:
            control.stop(self.home)
        except NotRunningError:
            return

    def watch(self, logs: Iterable[LogWriter]) -> None:
        """Makes the collectors also watch these logs."""
        self.watch_sources([source_of(log) for log in logs])

    def watch_sources(self, added: list[Source]) -> None:
        """Adds logs to sources.yaml and makes the stack apply it, as `tailrace up` does."""
        sources_file.add(self.settings.sources, added)
        _, problem = control.take_list(self.home)
        assert not problem
        self.await_healthy()

    def unwatch(self, logs: Iterable[LogWriter]) -> None:
        """Removes logs from sources.yaml; the collectors release them when the list is next applied."""
        listed = yaml.safe_load(self.settings.sources.read_text())
        over = {str(log.path.resolve()) for log in logs}
        kept = [entry for entry in listed if entry.get("path") not in over]
        self.settings.sources.write_text(yaml.safe_dump(kept, sort_keys=False) if kept else "")

    def status(self, component: str) -> ComponentStatus:
        found = control.status(self.home).component(component)
        assert found, f"the stack has no part {component}"
        return found

    def kill(self, component: str) -> None:
        """Sends SIGKILL to the component's process; the supervisor restarts it."""
        pid = self.status(component).pid
        assert pid, f"{component} has no process to kill"
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: self.status(component).pid != pid, f"{component} to be noticed as dead")

    @contextmanager
    def without(self, component: str) -> Iterator[None]:
        """Stops the component, and starts it again at the end of the block."""
        control.stop_component(self.home, component)
        try:
            yield
        finally:
            control.start_component(self.home, component)

    def await_healthy(self) -> None:
        wait_until(lambda: control.status(self.home).is_healthy, "all parts to be healthy")

    def has_queued(self, logs: Iterable[LogWriter]) -> bool:
        """Returns whether Fluent Bit has passed all lines of these logs to librdkafka's queue."""
        files = [file for log in logs for file in log.path.parent.glob(f"{log.path.name}*")]
        return collector_state.has_queued(self.home.data("fluentbit"), files)

    def processes(self, component: str) -> set[int]:
        """Returns the component's process and its descendants."""
        group = self.status(component).pid
        return {process.pid for process in procfs.processes() if process.group == group}

    def ports(self) -> dict[str, list[int]]:
        """Returns the ports of the components that listen."""
        components = assembly.assemble(self.settings, self.home)
        return {
            component.name: list(component.ports().values()) for component in components if component.ports()
        }

    def clickhouse(self) -> ClickHouse:
        return local_clickhouse.connect(self.settings, self.home, "admin")


@contextmanager
def refusing_port() -> Iterator[int]:
    """Yields a port of loopback on which nobody listens or can listen in the block."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def source_of(log: LogWriter) -> Source:
    """Returns the log's entry in sources.yaml."""
    return Source(log.instance, log.shape.source, log.path.resolve(), log.cluster, log.shape.tz)


def wait_until(condition: Callable[[], object], what: str, *, seconds: float = LIMIT_SECONDS) -> None:
    """Returns when the condition is true. An OSError or HTTPException in it (a stopped component) counts as
    not yet.

    Raises AssertionError after `seconds`, and warns after a long wait. The pause after a condition is a
    multiple of the time that it took, because the awaited work needs the processor too.
    """
    started = time.monotonic()
    deadline = started + seconds
    while True:
        asked = time.monotonic()
        try:
            if condition():
                warn_if_long(time.monotonic() - started, what)
                return
        except (OSError, http.client.HTTPException) as error:
            what = f"{what} ({error})" if "(" not in what else what
        now = time.monotonic()
        assert now < deadline, f"waited {seconds:.0f} s for {what}"
        time.sleep(_pause(now - asked, now - started))


def _pause(took: float, waited: float) -> float:
    """Returns the seconds until the next evaluation; `took` is the duration of the last one."""
    for_its_cost = min(PAUSES * took, PAUSE_SECONDS)
    for_the_wait = min(WAITED_SHARE * waited, LONGEST_PAUSE_SECONDS)
    return max(POLL_SECONDS, took, for_its_cost, for_the_wait)
