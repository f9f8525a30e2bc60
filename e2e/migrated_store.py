"""The data of a new ClickHouse with the complete schema, for stacks of tests.

The migrations are applied once for each change of them. To apply them takes 2 CPU-seconds, in each new stack.
sql/tests/test_migrations.py applies them to an empty server.
"""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from tailrace import __version__, migrations
from tailrace.config import content_hash
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.migrations import migration_files, runner
from tailrace_local.components.class_archive import free_ports
from tailrace_local.components.clickhouse import EMBEDDED, ClickHouse
from tailrace_local.supervisor import cache

NAME = "store"
START_SECONDS = 120
POLL_SECONDS = 0.1


def fill(settings: Settings, home: Home) -> None:
    """Gives a stack that has never run the data of a ClickHouse with the schema.

    Does nothing if the stack has data, or if its ClickHouse is not installed yet.
    """
    component = ClickHouse(settings, home)
    store = home.data(component.name) / NAME
    if component.name not in settings.chosen_components() or store.exists() or not component.installed():
        return
    entry = settings.cache / "migrated-store" / _fingerprint()
    if not entry.exists():
        with cache.build(entry) as draft:
            if not entry.exists():
                _make(settings, draft)
    shutil.copytree(entry / NAME, store, symlinks=True)


def _fingerprint() -> str:
    code = sorted(Path(migrations.__file__).parent.glob("*.py"))
    statements = [migration.sha256 for migration in migration_files.load_migrations()]
    return content_hash.fingerprint(
        __version__, EMBEDDED / "package-lock.json", runner.RETENTION, *code, *statements
    )


def _make(settings: Settings, directory: Path) -> None:
    """Runs a ClickHouse, applies the migrations and stops it; its data is then in `directory`/store."""
    with tempfile.TemporaryDirectory(prefix="tailrace-store-") as root:
        home, (port, _) = Home(Path(root)), free_ports()
        environment = {**settings.environment(), "TAILRACE_HOME": root, "TAILRACE_PORT_CLICKHOUSE": str(port)}
        component = ClickHouse(Settings.from_environment(environment), home)
        component.prepare()
        with home.log(component.name).open("wb") as log:
            server = subprocess.Popen(component.command(), stdout=log, stderr=log)
            try:
                _await_healthy(component)
                component.provision()
            finally:
                server.terminate()
                server.wait(START_SECONDS)
        shutil.copytree(home.data(component.name) / NAME, directory / NAME, symlinks=True)


def _await_healthy(component: ClickHouse) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _is_healthy(component):
        assert time.monotonic() < deadline, f"ClickHouse is not healthy after {START_SECONDS} s"
        time.sleep(POLL_SECONDS)


def _is_healthy(component: ClickHouse) -> bool:
    try:
        return component.health().ok
    except OSError:
        return False
