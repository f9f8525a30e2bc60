"""The steps of tailrace.deployment, against real parts: what compose.yaml's services do at a start."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from docker.tests.conftest import DOCKER, ToOutput
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import Settings
from tailrace.credentials.names import password_name
from tailrace.demo import feed as demo_feed
from tailrace.deployment import __main__ as deployment
from tailrace.kafka import topics
from tailrace.migrations import migration_files
from tailrace.rules import push as rule_push
from tailrace.sources import sources_file
from tailrace_local import java_build
from tailrace_local.components.clickhouse import ClickHouse as ClickHousePart
from tailrace_local.components.kafka import Kafka
from tailrace_local.supervisor import endpoint
from tailrace_local.supervisor.component import Component

START_SECONDS = 60
WRONG_PASSWORD = 516
ANSWER_SECONDS = 20
RULES = REPOSITORY / "rules"


@contextmanager
def running(component: Component, command: list[str | Path]) -> Iterator[None]:
    """The part's process, from when it is healthy until it has ended."""
    with component.home.log(component.name).open("ab") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, **component.environment()}
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not is_healthy(component):
            assert process.poll() is None, component.home.log(component.name).read_text()
            assert time.monotonic() < deadline, f"{component.name} is not up"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(component.grace_seconds)


def is_healthy(component: Component) -> bool:
    with suppress(OSError):
        return component.health().ok
    return False


def settings_with_free_ports(home: Path) -> Settings:
    names = ("KAFKA", "KAFKA_CONTROLLER", "KAFKA_INTERNAL", "CLICKHOUSE", "FLINK")
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    ports = {
        f"TAILRACE_PORT_{name}": str(each.getsockname()[1]) for name, each in zip(names, taken, strict=True)
    }
    for each in taken:
        each.close()
    outer = {name: os.environ[name] for name in ("HOME", "TAILRACE_CACHE") if name in os.environ}
    return Settings.from_environment({**outer, "TAILRACE_HOME": str(home), **ports})


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> Settings:
    return settings_with_free_ports(tmp_path_factory.mktemp("stack") / "home")


@pytest.fixture(scope="module")
def kafka(settings: Settings, services: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The address of a Kafka without a topic, formatted and started as compose.yaml has it."""
    with kafka_of(services["kafka"]["environment"], settings) as address:
        yield address


@contextmanager
def kafka_of(environment: dict[str, str], settings: Settings) -> Iterator[str]:
    """The address of a Kafka without a topic that runs as the image would with this environment."""
    component = Kafka(settings, Home(settings.home))
    if not component.installed():
        component.install(ToOutput())
    configuration = component.home.data(component.name) / "compose.properties"
    configuration.write_text(properties(environment, settings, configuration.parent / "log"))
    endpoint.choose(component.home, component.name)
    *java, program, _ = (word for word in component.command() if "-javaagent:" not in str(word))
    tool = [*java, "kafka.tools.StorageTool", "format", "--cluster-id", environment["CLUSTER_ID"]]
    subprocess.run([*tool, "--config", configuration], check=True, stdout=subprocess.DEVNULL)
    with running(component, [*java, program, configuration]):
        yield component.address()


def properties(environment: dict[str, str], settings: Settings, logs: Path) -> str:
    """As the image makes them of its environment, but on free ports and in another directory."""
    here = {
        "//kafka:9092": f"//127.0.0.1:{settings.port_kafka}",
        "//kafka:9094": f"//127.0.0.1:{settings.port_kafka_internal}",
        "//0.0.0.0:9092": f"//127.0.0.1:{settings.port_kafka}",
        "//0.0.0.0:9094": f"//127.0.0.1:{settings.port_kafka_internal}",
        "//0.0.0.0:19092": f"//127.0.0.1:{settings.port_flink}",
        "//127.0.0.1:19092": f"//127.0.0.1:{settings.port_flink}",
        "127.0.0.1:9093": f"127.0.0.1:{settings.port_kafka_controller}",
        "/var/lib/kafka/data": str(logs),
        "/run/secrets/tls-kafka": str(settings.home / "secrets/tls/kafka.pem"),
        "/run/secrets/tls-trust": str(settings.home / "secrets/tls/trust.pem"),
    }
    lines = []
    for name, value in environment.items():
        if name.startswith("KAFKA_") and name != "KAFKA_HEAP_OPTS":
            for there, instead in here.items():
                value = value.replace(there, instead)
            lines.append(f"{property_of(name)}={value}\n")
    return "".join(lines)


def property_of(variable: str) -> str:
    """Kafka's name of it: the image makes `_` a dot, `__` an underscore and `___` a hyphen."""
    signs = {1: ".", 2: "_", 3: "-"}
    name = variable.removeprefix("KAFKA_").lower()
    return re.sub("_+", lambda found: signs[len(found[0])], name)


@pytest.fixture
def run(tmp_path: Path, monkeypatch) -> Callable[..., None]:
    """Runs a step as a container would, with a home directory of its own. Fails if the step fails."""
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TAILRACE_COMPONENTS", raising=False)

    def step(*words: str | Path) -> None:
        assert deployment.main([str(word) for word in words]) == Exit.OK

    return step


def messages(kafka: str, topic: str) -> int:
    """How many messages a topic of any number of partitions has been given."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "test"})
    try:
        partitions = consumer.list_topics(topic, ANSWER_SECONDS).topics[topic].partitions
        offsets = [
            consumer.get_watermark_offsets(TopicPartition(topic, each), ANSWER_SECONDS) for each in partitions
        ]
    finally:
        consumer.close()
    return sum(high - low for low, high in offsets)


def test_topics_are_made_and_rules_pushed_once(kafka, run):
    for _ in range(2):
        run("topics", "--kafka", kafka)
    made = AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=ANSWER_SECONDS).topics
    listed = {topic.name: topic.partitions for topic in topics.load()}
    assert {name: len(made[name].partitions) for name in made if not name.startswith("__")} == listed

    for _ in range(2):
        run("rules", "--kafka", kafka)
    assert messages(kafka, rule_push.TOPIC) == 1


@pytest.mark.parametrize("option", [pytest.param("--demo", marks=pytest.mark.long), "--samples"])
def test_logs_to_show_are_fed_once_and_collectors_watch_them(option, kafka, run, tmp_path):
    run("topics", "--kafka", kafka)
    home = Home(tmp_path / "home")
    before = messages(kafka, demo_feed.SPANS_TOPIC)
    run("collector", option, "--kafka", kafka)
    spans = messages(kafka, demo_feed.SPANS_TOPIC) - before
    watched = {path: path.stat().st_size for path in home.watch.rglob("*.log")}
    for _ in range(2):  # also after the other option
        run("collector", "--demo", "--kafka", kafka)
    run("collector", "--samples", "--kafka", kafka)

    assert spans > 0
    assert messages(kafka, demo_feed.SPANS_TOPIC) - before == spans
    assert watched == {path: path.stat().st_size for path in home.watch.rglob("*.log")}
    assert {log.path for log in sources_file.load(home.root / "sources.yaml")} == watched.keys()
    included = (home.data("fluentbit") / "configuration/tailrace.conf").read_text().split()[1::2]
    assert all(Path(file).is_file() for file in included)
    assert sum(Path(file).parent == home.data("fluentbit") / "configuration" for file in included) == len(
        watched
    )


def test_without_the_demo_nothing_is_watched_but_what_is_listed(run, tmp_path):
    run("collector")
    home = Home(tmp_path / "home")
    assert sources_file.load(home.root / "sources.yaml") == []
    assert not list(home.watch.iterdir())


def test_a_health_that_is_asked_for_too_early_is_one_sentence(run, tmp_path, capsys):
    run("collector")
    assert deployment.main(["health", "census"]) == Exit.FAILED
    assert capsys.readouterr().err == "tailrace: census: no census yet\n"


@pytest.mark.parametrize("name", ["census", "capture", "fingerprint"])
def test_parts_run_and_report_their_health(name, run, tmp_path):
    """In a process of its own: the step becomes the part. That a server is away does not make capture ill."""
    home = Home(tmp_path / "home")
    home.root.mkdir()
    (tmp_path / "slow.log").write_text("# a line\n")
    (home.root / "sources.yaml").write_text(
        f"- {{instance: db-1, source: slowlog, path: {tmp_path}/slow.log}}\n"
        "- {instance: db-1, source: server, dsn: 'mysql://nobody@127.0.0.1:1/'}\n"
    )
    run("collector")
    java_build.build(Settings.from_environment(), ToOutput())
    component = subprocess.Popen([sys.executable, "-m", "tailrace.deployment", "run", name])
    try:
        deadline = time.monotonic() + START_SECONDS
        while deployment.main(["health", name]) != Exit.OK:
            assert component.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        component.terminate()
        assert component.wait(START_SECONDS) is not None
    if name == "census":
        spooled = next(home.data("census").glob("spool/census-slowlog-*.jsonl"))
        assert f"{tmp_path}/slow.log" in spooled.read_text()


def test_evidence_starts_as_in_its_container_with_the_key_that_make_secrets_makes(services, run, tmp_path):
    home = Home(tmp_path / "home")
    docker = tmp_path / "docker"
    docker.mkdir()
    for name in ("make-secrets", "compose.yaml", "compose.secure.yaml"):
        shutil.copy(DOCKER / name, docker)
    subprocess.run(["bash", docker / "make-secrets"], check=True)
    service = services["evidence"]
    here = {"/run/secrets": docker / "secrets", service["environment"]["TAILRACE_HOME"]: home.root}
    words = service["command"]
    for there, instead in here.items():
        words = [word.replace(there, str(instead)) for word in words]
    assert home.run.is_dir() and home.data("evidence").is_dir()
    component = subprocess.Popen([sys.executable, "-m", *words])
    try:
        deadline = time.monotonic() + START_SECONDS
        while deployment.main(["health", "evidence"]) != Exit.OK:
            assert component.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        component.terminate()
        assert component.wait(START_SECONDS) == 0


ACCOUNTS = (
    *("admin", "writer", "analyst", "auditor", "delivery"),
    *("facts", "repair", "revealer", "explain", "witness"),
    *("api", "reader_developer", "reader_compliance", "reader_security", "reader_unmasked"),
)
"""Accounts of ClickHouse whose passwords the configuration needs."""


@pytest.fixture
def listed_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands find a sources.yaml with one log."""
    file = tmp_path / "sources.yaml"
    file.write_text("- {instance: shop-db-1, source: slowlog, path: /var/log/mysql/slow.log}\n")
    monkeypatch.setenv("TAILRACE_SOURCES", str(file))


def test_clickhouse_takes_the_configuration_the_migrations_and_commands(
    settings, kafka, run, tmp_path, capsys, listed_log
):
    """In the real engine, which gets other directories than a container has."""
    secrets, configuration = tmp_path / "secrets", tmp_path / "configuration"
    secrets.mkdir()
    for name in ACCOUNTS:
        (secrets / password_name(name)).write_text(f"secret of {name}\n")
    configuration.mkdir()
    run("clickhouse", "--secrets", secrets, "--to", configuration, "--network", "10.0.0.0/8")
    written = configuration / "config.xml"
    assert written.stat().st_mode & 0o777 == 0o600
    written.write_text(written.read_text().replace("/var/lib/clickhouse", str(tmp_path / "store")))

    component = ClickHousePart(settings, Home(settings.home))
    if not component.installed():
        component.install(ToOutput())
    # The part's own command with this configuration: program, two options, server, library, configuration, …
    command = component.command()
    command[command.index(component._config())] = written
    with running(component, command):
        address = component.address()
        migrate = ("migrations", "--secrets", secrets, "--clickhouse", address)
        for _ in range(2):
            run(*migrate)
        applied = capsys.readouterr().out.splitlines()
        assert len(applied) == len(migration_files.load_migrations())
        reader = ClickHouse(address, "reader_developer", "secret of reader_developer")
        assert reader.execute("SELECT count() FROM tailrace.query_events") == "0\n"
        networks = ClickHouse(address, "admin", "secret of admin").rows(
            "SELECT host_ip, host_names FROM system.users WHERE name = 'writer'"
        )
        assert networks == [{"host_ip": ["10.0.0.0/8"], "host_names": ["localhost"]}]
        with pytest.raises(ClickHouseError) as refused:
            ClickHouse(address, "writer", "secret of admin").execute("SELECT 1")
        assert refused.value.code == WRONG_PASSWORD
        run("topics", "--kafka", kafka)
        check_commands(["command", "--secrets", str(secrets), "--clickhouse", address], kafka)
        assert "the job has not reported a result" in capsys.readouterr().err, "no job runs here"


def check_commands(command: list[str], kafka: str) -> None:
    """Commands read a ClickHouse elsewhere, and with its address write to a Kafka elsewhere."""
    assert [status(*command, *words) for words in READING] == [Exit.OK] * len(READING)
    before = messages(kafka, rule_push.TOPIC)
    push = ("rules", "push", str(RULES), "--no-check", "--wait", "1")
    assert status(*command, *push) == Exit.NOT_RUNNING
    assert status(*command, "--kafka", kafka, *push) == Exit.FAILED
    assert messages(kafka, rule_push.TOPIC) == before + 1
    assert status(*command, "--kafka", kafka, "backfill", "--dry-run") == Exit.OK


READING = (("ledger",), ("alerts", "list"), ("hold", "list"), ("retention", "show"), ("tokens", "list"))
"""Commands that docs/CLUSTER.md names."""


def status(*words: str) -> int:
    """The exit code of a step that ends the process."""
    with pytest.raises(SystemExit) as ended:
        deployment.main(words)
    return ended.value.code


def test_a_secret_that_is_missing_is_named(tmp_path, capsys):
    words = ["migrations", "--secrets", str(tmp_path), "--clickhouse", "http://127.0.0.1:1"]
    assert deployment.main(words) == Exit.FAILED
    assert str(tmp_path / "clickhouse-admin") in capsys.readouterr().err
