"""Fixtures: real stacks that modules share during the session, and workloads that they watch."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.delivery_process import ANSWER_TIMEOUT, WEB_PORT, DeliveryProcess
from e2e.limits import TEST_SECONDS
from e2e.receivers import WebReceiver, web_receiver
from e2e.stack import PARTS, PORTS, Stack
from e2e.workload.writer import Workload

FIRST_PORT = int(os.environ.get("E2E_FIRST_PORT", "21130"))
DETECTING_PORT = int(os.environ.get("DETECTING_FIRST_PORT", "22110"))
DETECTING = ("detect", "metrics", "delivery")
"""The additional components of the stack with the detect job."""
KEEPING_PORT = int(os.environ.get("KEEPING_FIRST_PORT", "22200"))
SHARED = ("detecting", "keeping", "stack")
"""The fixtures of shared stacks below, in the order in which the stacks run."""
RUNNING: dict[str, Stack] = {}
"""The running shared stacks, by fixture."""
STOPPED_AFTER = pytest.StashKey[list[str]]()
"""On a test: the shared stacks that no later test uses."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--stack",
        choices=("shared", "detecting", "own"),
        help="only tests of `stack` below, of `detecting` and `keeping`, or the others; all run side by side",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Gives end-to-end tests more time than unit tests, and deselects those of the other stack."""
    ours = [item for item in items if Path(__file__).parent in item.path.parents]
    for item in ours:
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(TEST_SECONDS))
    used = _shared_stacks(ours)
    chosen = config.getoption("--stack")
    kept = [item for item in ours if chosen in (None, _suite(used[item.path]))]
    others = [item for item in items if item not in ours]
    config.hook.pytest_deselected(items=[item for item in ours if item not in kept])
    items[:] = [*others, *_grouped_by_stack(kept, used)]


def _shared_stacks(items: list[pytest.Item]) -> dict[Path, set[str]]:
    """Returns the shared stacks of each module. A module's own fixture `stack` replaces the shared one."""
    used: dict[Path, set[str]] = {}
    for item in items:
        own = {"stack"} if hasattr(item.module, "stack") else set()
        used.setdefault(item.path, set()).update({*SHARED}.intersection(item.fixturenames) - own)
    return used


def _suite(stacks: set[str]) -> str:
    """Returns the value of --stack for a module that uses these shared stacks."""
    if stacks & {"detecting", "keeping"}:
        return "detecting"
    return "shared" if stacks else "own"


def _grouped_by_stack(items: list[pytest.Item], used: dict[Path, set[str]]) -> list[pytest.Item]:
    """Groups the modules of each shared stack, and marks the last test of each stack.

    An idle stack with the detect job takes a sixth of a core, mostly for checkpoints.
    """
    grouped = sorted(
        items,
        key=lambda item: (
            not _needs_a_new_stack(item),
            *(name not in used[item.path] for name in SHARED),
        ),
    )
    last = {name: item for item in grouped for name in used[item.path]}
    for name, item in last.items():
        item.stash.setdefault(STOPPED_AFTER, []).append(name)
    return grouped


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Stops the shared stacks that no later test uses. Session fixtures end only after the last test."""
    for name in item.stash.get(STOPPED_AFTER, []):
        if running := RUNNING.pop(name, None):
            running.down()


def _needs_a_new_stack(item: pytest.Item) -> bool:
    """Returns whether a module needs a stack on which no alert fires yet: others lose bytes and kill
    components."""
    return item.path.name == "test_metrics.py"


@pytest.fixture(scope="session")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """A running stack without dashboards; stopped after the last test."""
    yield from _shared("stack", Stack(tmp_path_factory.mktemp("stack") / "home", FIRST_PORT))


@pytest.fixture(scope="session")
def webhook() -> Iterator[WebReceiver]:
    """The webhook that receives the alerts of the stack below."""
    with web_receiver(DETECTING_PORT + len(PORTS) + len(DETECTING)) as receiver:
        yield receiver


@pytest.fixture(scope="session")
def detecting(tmp_path_factory, webhook: WebReceiver) -> Iterator[Stack]:
    """A running stack from log lines to delivered alerts, with the repository's rules and without dashboards.

    A test uses separate instances, and restores the active rules.
    """
    directory = tmp_path_factory.mktemp("detecting")
    (directory / "secret").write_text("secret")
    channel = {
        "name": "siem",
        "kind": "webhook",
        "url": webhook.url,
        "secret_file": "secret",
        "timeout": ANSWER_TIMEOUT,
    }
    (directory / "alerts.yaml").write_text(json.dumps({"channels": [{**channel, "min_level": "low"}]}))
    ports = {
        f"port_{component}": str(DETECTING_PORT + len(PORTS) + n) for n, component in enumerate(DETECTING[:2])
    }
    made = Stack(
        directory / "home",
        DETECTING_PORT,
        (*PARTS, *DETECTING),
        alerts_config=str(directory / "alerts.yaml"),
        detect_checkpoint_interval="5000",
        gap_timeout="5",
        **ports,
    )
    yield from _shared("detecting", made)


@pytest.fixture(scope="session")
def keeping(tmp_path_factory) -> Iterator[Stack]:
    """Kafka and ClickHouse, for the commands about alerts and rules."""
    home = tmp_path_factory.mktemp("keeping") / "home"
    yield from _shared("keeping", Stack(home, KEEPING_PORT, ("kafka", "clickhouse")))


@pytest.fixture
def delivering(keeping: Stack, tmp_path: Path) -> Iterator[DeliveryProcess]:
    service = DeliveryProcess(keeping, tmp_path)
    yield service
    service.stop()


@pytest.fixture
def web() -> Iterator[WebReceiver]:
    with web_receiver(WEB_PORT) as receiver:
        yield receiver


def _shared(name: str, made: Stack) -> Iterator[Stack]:
    RUNNING[name] = made
    made.up()
    yield made
    RUNNING.pop(name, None)
    made.down()


@pytest.fixture
def watched(stack: Stack, tmp_path: Path, request) -> Iterator[Callable[..., Workload]]:
    """Creates workloads whose logs the stack watches during the test; instances are named after the test.

    A watched log takes an inotify instance, and there are fewer of those than logs in all tests together.
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
