"""Fixtures: real stacks that modules share for the whole session, and workloads that they watch."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.receivers import WebReceiver, web_receiver
from e2e.stack import PARTS, PORTS, Stack
from e2e.workload.writer import Workload

TEST_SECONDS = 900
"""Parts start and restart several times in a test; on a busy machine each time takes a minute."""

FIRST_PORT = int(os.environ.get("E2E_FIRST_PORT", "21130"))
DETECTING_PORT = int(os.environ.get("DETECTING_FIRST_PORT", "22110"))
DETECTING = ("detect", "metrics", "delivery")
"""What the stack with the detect job has besides the others."""
KEEPING_PORT = int(os.environ.get("KEEPING_FIRST_PORT", "22200"))
SHARED = {"stack", "detecting", "keeping"}
"""The fixtures below of stacks that several modules use."""
RUNNING: dict[str, Stack] = {}
STOPPED_AFTER = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--stack",
        choices=("shared", "detecting", "own"),
        help="only tests of `stack` below, of `detecting` and `keeping`, or the others; all run side by side",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Gives end-to-end tests more time than unit tests have, and leaves out those of the other stack."""
    ours = [item for item in items if Path(__file__).parent in item.path.parents]
    for item in ours:
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(TEST_SECONDS))
    if wanted := config.getoption("--stack"):
        names = {"detecting", "keeping"}
        of_detecting = {item.path for item in ours if names.intersection(item.fixturenames)}
        others = [item for item in ours if _suite(item, of_detecting) != wanted]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]
    _group_by_stack(items)


def _group_by_stack(items: list[pytest.Item]) -> None:
    """Modules that share a stack follow each other; their stack is stopped after the last one.

    A stack that nobody asks for still takes a third of a core: its job makes checkpoints.
    """
    modules: dict[Path, set[str]] = {}
    for item in items:
        modules.setdefault(item.path, set()).update(SHARED.intersection(item.fixturenames))
    items.sort(
        key=lambda item: (
            not _needs_a_new_stack(item),
            *(name not in modules[item.path] for name in sorted(SHARED)),
        )
    )
    last = {name: item for item in items for name in modules[item.path]}
    for name, item in last.items():
        item.stash.setdefault(STOPPED_AFTER, []).append(name)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Stops the shared stacks that no later test uses. Their fixtures would keep them until the last test."""
    for name in item.stash.get(STOPPED_AFTER, []):
        if running := RUNNING.pop(name, None):
            running.down()


def _needs_a_new_stack(item: pytest.Item) -> bool:
    """That nothing fires is so before other tests have lost bytes and killed parts."""
    return item.path.name == "test_metrics.py"


def _suite(item: pytest.Item, of_detecting: set[Path]) -> str:
    """By the stacks that its module uses. A module may have a fixture `stack` of its own."""
    if item.path in of_detecting:
        return "detecting"
    return "shared" if "stack" in item.fixturenames and not hasattr(item.module, "stack") else "own"


@pytest.fixture(scope="session")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """A running stack without dashboards; stopped after the last test."""
    yield from _shared("stack", Stack(tmp_path_factory.mktemp("stack") / "home", FIRST_PORT))


@pytest.fixture(scope="session")
def webhook() -> Iterator[WebReceiver]:
    """Where the stack below posts its alerts."""
    with web_receiver(DETECTING_PORT + len(PORTS) + len(DETECTING)) as receiver:
        yield receiver


@pytest.fixture(scope="session")
def detecting(tmp_path_factory, webhook: WebReceiver) -> Iterator[Stack]:
    """A running stack from log lines to delivered alerts, with the repository's rules and without dashboards.

    A test has instances of its own there, and leaves the rules in force that it found.
    """
    directory = tmp_path_factory.mktemp("detecting")
    (directory / "secret").write_text("secret")
    channel = {"name": "siem", "kind": "webhook", "url": webhook.url, "secret_file": "secret"}
    (directory / "alerts.yaml").write_text(json.dumps({"channels": [{**channel, "min_level": "low"}]}))
    ports = {f"port_{part}": str(DETECTING_PORT + len(PORTS) + n) for n, part in enumerate(DETECTING[:2])}
    made = Stack(
        directory / "home",
        DETECTING_PORT,
        (*PARTS, *DETECTING),
        alerts_config=str(directory / "alerts.yaml"),
        detect_checkpoint_interval="2000",
        gap_timeout="5",
        **ports,
    )
    yield from _shared("detecting", made)


@pytest.fixture(scope="session")
def keeping(tmp_path_factory) -> Iterator[Stack]:
    """Kafka and ClickHouse: what commands about alerts and rules need."""
    home = tmp_path_factory.mktemp("keeping") / "home"
    yield from _shared("keeping", Stack(home, KEEPING_PORT, ("kafka", "clickhouse")))


def _shared(name: str, made: Stack) -> Iterator[Stack]:
    RUNNING[name] = made
    made.up()
    yield made
    RUNNING.pop(name, None)
    made.down()


@pytest.fixture
def watched(stack: Stack, tmp_path: Path, request) -> Iterator[Callable[..., Workload]]:
    """Makes workloads whose logs the stack watches while the test runs; instances are named after the test.

    A watched log takes an inotify instance, and all tests together have more logs than there are of those.
    """
    made: list[Workload] = []

    def make(seed: int, **options) -> Workload:
        name = request.node.name.removeprefix("test_").replace("[", "-").rstrip("]")
        workload = Workload(tmp_path / f"logs-{seed}", seed, f"{name}-{seed}", **options)
        stack.watch(workload.logs)
        made.append(workload)
        return workload

    yield make
    stack.unwatch(log for workload in made for log in workload.logs)
