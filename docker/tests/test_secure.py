"""compose.secure.yaml adds what `tailrace up --secure` does; its Kafka and steps run, without containers."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from cryptography import x509

from docker.tests.conftest import DOCKER, Project
from docker.tests.test_compose import content_of
from docker.tests.test_steps import kafka_of, property_of, settings_with_free_ports
from tailrace.cli.exit_codes import Exit
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.credentials.certificates import Certificates
from tailrace.deployment import __main__ as deployment
from tailrace.kafka import accounts as kafka_accounts
from tailrace.kafka import client as kafka_client
from tailrace.kafka import topics
from tailrace_local import kafka as local_kafka
from tailrace_local.components import superset
from tailrace_local.components.detect import Detect
from tailrace_local.components.flink import Flink
from tailrace_local.components.fluentbit import FluentBit
from tailrace_local.components.kafka import SECURED

FILES = ("compose.yaml", "compose.secure.yaml")
ANSWER_SECONDS = 20
ADDED = {
    "kafka": {"tls-kafka", "tls-trust"},
    "topics": {
        "tls-admin",
        "tls-trust",
        *(kafka_accounts.password_name(each.name) for each in kafka_accounts.accounts()),
    },
    "rules": {"kafka-rules", "tls-trust"},
    "collector-setup": {"kafka-traces", "tls-trust"},
    "host-keys": {"kafka-keys", "tls-trust"},
    "fluentbit": {"tls-trust"},
    "flink": {"kafka-normalize", "tls-trust"},
    "flink-taskmanager": {"kafka-normalize", "tls-trust"},
    "detect": {"kafka-detect", "tls-trust"},
    "detect-taskmanager": {"kafka-detect", "tls-trust"},
    "facts": {"kafka-facts", "tls-trust"},
    "repair": {"kafka-backfill", "tls-trust"},
    "pull": {"kafka-pull", "tls-trust"},
    "forwarding": {"kafka-forwarding", "tls-trust"},
    "superset": {"tls-superset", "tls-trust", "kafka-rules"},
    "dashboards": {"tls-trust"},
}
"""Secrets of a service in addition to those without the secured stack."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory) -> Path:
    """A docker/ with the secrets that the commands in the file make, in the home directory of that user."""
    copied = Path(
        shutil.copytree(
            DOCKER, tmp_path_factory.mktemp("secure") / "docker", ignore=shutil.ignore_patterns("secrets")
        )
    )
    subprocess.run(["bash", copied / "make-secrets"], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAILRACE_HOME", str(copied))
        assert deployment.main(words_of_certificates()) == Exit.OK
    return copied


def words_of_certificates() -> list[str]:
    """Returns the step that the file names, with its options."""
    text = re.sub(r"\\\n# +", "", (DOCKER / "compose.secure.yaml").read_text())
    return shlex.split(re.search(r"tailrace\.deployment (certificates .*)", text)[1])


@pytest.fixture(scope="module")
def secured(compose, directory: Path) -> Project:
    return compose(*FILES, directory=directory)


@pytest.fixture(scope="module")
def services(secured: Project) -> dict[str, dict[str, Any]]:
    return secured["services"]


@pytest.fixture(scope="module")
def settings(directory: Path) -> Settings:
    return settings_with_free_ports(directory)


@pytest.fixture(scope="module")
def files(secured: Project, directory: Path) -> dict[str, str]:
    """Where what is mounted lies here, by its path in a container."""
    named = secured["secrets"].items()
    return {f"/run/secrets/{name}": str(directory / each["file"]) for name, each in named}


def in_container(text: object, files: dict[str, str]) -> str:
    """With the paths of files as containers see them."""
    seen = str(text)
    for there, here in files.items():
        seen = seen.replace(here, there)
    return seen


# --- the same as one machine -------------------------------------------------------------------------------


def test_kafka_is_secured_by_the_embedded_properties(services, files):
    given = {property_of(name): value for name, value in services["kafka"]["environment"].items()}
    lines = [line for line in SECURED.read_text().splitlines() if line and not line.startswith("#")]
    wanted = dict(line.split("=", 1) for line in lines)
    listeners = ("listeners", "advertised.listeners", "listener.security.protocol.map")
    paths = {"${KEY_AND_CERTIFICATE}": "/run/secrets/tls-kafka", "${TRUST}": "/run/secrets/tls-trust"}
    for key in wanted.keys() - {*listeners}:
        assert given[key] == paths.get(wanted[key], wanted[key]), key
    secured = {key for key in given if re.match("ssl|sasl|authorizer|super|allow|listener.name", key)}
    of_host = {key.replace(".clients.", ".host.") for key in wanted if ".clients." in key}
    assert secured - wanted.keys() == of_host  # for this machine's programs, as for all clients
    assert all(given[key] == given[key.replace(".host.", ".clients.")] for key in of_host)

    protocols = dict(each.split(":") for each in wanted[listeners[2]].split(","))
    mapped = dict(each.split(":") for each in given[listeners[2]].split(","))
    assert mapped == {**protocols, "HOST": protocols["CLIENTS"]}
    names = [re.findall(r"(\w+)://", given[key]) for key in listeners[:2]]
    assert names[0] == [*mapped]
    assert names[1] == [name for name in mapped if name != "CONTROLLER"]


def test_fluent_bit_is_the_collector_by_tls(services, settings, files, directory):
    given = services["fluentbit"]["environment"]
    embedded = FluentBit(settings, Home(directory)).environment()
    assert given.keys() == embedded.keys()
    for name in given:
        if name.startswith("TAILRACE_KAFKA_") and name != "TAILRACE_KAFKA_BROKERS":
            assert given[name] == in_container(embedded[name], files), name


@pytest.mark.parametrize(("config", "component"), [("normalize.yaml", Flink), ("detect.yaml", Detect)])
def test_jobs_are_their_accounts_and_otherwise_as_before(
    secured, project, settings, files, directory, config, component
):
    given, before = content_of(secured, config), content_of(project, config)
    embedded = component(settings, Home(directory))._kafka()
    login = embedded["kafka.properties.sasl.jaas.config"]
    expected = {
        **{key: in_container(value, files) for key, value in embedded.items()},
        "kafka.bootstrap": "kafka:9092",
        "kafka.properties.config.providers.files.param.allowed.paths": "/run/secrets",
        "kafka.properties.sasl.jaas.config": login.replace(str(directory / "secrets"), "/run/secrets"),
    }
    assert given == {**before, **expected}


@pytest.mark.parametrize(
    ("service", "account"),
    [
        ("facts", "facts"),
        ("pull", "pull"),
        ("rules", "rules"),
        ("collector-setup", "traces"),
        ("repair", "backfill"),
    ],
)
def test_programs_are_their_accounts(services, settings, files, directory, service, account):
    embedded = local_kafka.as_arguments(settings, Home(directory), account)
    pairs = zip(embedded[::2], embedded[1::2], strict=True)
    expected = [f"{name}={in_container(value, files)}" for name, value in pairs]
    given = [word for word in services[service]["command"] if word.startswith("--kafka")]
    assert given == ["--kafka=kafka:9092", *expected[1:]]


def test_no_client_talks_to_kafka_without_tls(services):
    for name, service in services.items():
        words = [*(service.get("command") or []), *map("=".join, _environment(service))]
        if name not in ("kafka", "superset-setup") and any(re.search(r"kafka:909\d", word) for word in words):
            assert any(re.search(r"(?i)security.protocol\W+(sasl_)?ssl\b", word) for word in words), name


def _environment(service: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in (service.get("environment") or {}).items():
        yield name, str(value)


def test_repeated_output_is_the_same(services, project):
    """Commands are replaced whole: what has nothing to do with Kafka or HTTPS must stay."""
    for name, service in services.items():
        before, now = (each.get("command") or [] for each in (project["services"][name], service))
        plain = [word.replace("https:", "http:") for word in now if not word.startswith("--kafka-p")]
        pairs = [" ".join(words).replace("--kafka ", "--kafka=") for words in (before, plain)]
        if name == "topics":
            pairs[1] = pairs[1].replace("--accounts ", "").replace("9094", "9092")
        if name != "superset":
            assert pairs[0] == pairs[1], name


def test_superset_serves_https_as_the_embedded_one(services, settings, files, directory):
    command = services["superset"]["command"]
    embedded = [str(word) for word in superset.Superset(settings, Home(directory)).command()]
    bound = f"127.0.0.1:{settings.port_superset}"
    words = in_container(" ".join(embedded[1:]), files).replace(bound, "0.0.0.0:8088")
    assert " ".join(command[1:]).replace("=", " ") == words
    assert services["superset"]["environment"]["SUPERSET_HTTPS"] == "true"
    assert "SUPERSET_HTTPS" not in services["superset-setup"]["environment"]


def test_each_service_knows_its_own_secrets_only(services, project):
    for name, service in services.items():
        before, now = (
            {each["source"] for each in of.get("secrets", [])} for of in (project["services"][name], service)
        )
        assert now == before | ADDED.get(name, set()), name
        assert not before & ADDED.get(name, set()), name


def test_flinks_pages_are_not_published(services):
    for name in ("flink", "detect"):
        assert not services[name].get("ports")


# --- what is made ------------------------------------------------------------------------------------------


def test_what_is_mounted_can_be_read_and_the_keys_of_the_authority_cannot(directory, files):
    for file in files.values():
        assert Path(file).stat().st_mode & 0o777 == 0o444, file
    mounted = {Path(file) for file in files.values()}
    for path in (directory / "secrets/tls").iterdir():
        if path not in mounted:
            assert path.stat().st_mode & 0o077 == 0, path
    assert (directory / "secrets").stat().st_mode & 0o077 == 0


def test_certificates_name_the_services(directory, services):
    made = Certificates(Home(directory))
    for name in ("kafka", "superset"):
        said = made.certificate(name).extensions.get_extension_for_class(x509.SubjectAlternativeName)
        assert said.value.get_values_for_type(x509.DNSName) == ["localhost", "kafka", "superset"]
        assert name in services


def test_certificates_are_made_once_and_again_when_asked(directory, tmp_path, monkeypatch):
    home = Path(shutil.copytree(directory / "secrets", tmp_path / "home/secrets")).parent
    monkeypatch.setenv("TAILRACE_HOME", str(home))
    made = Certificates(Home(home))
    before = {path.name: path.read_bytes() for path in made.directory.iterdir()}
    assert deployment.main(words_of_certificates()) == Exit.OK
    assert {path.name: path.read_bytes() for path in made.directory.iterdir()} == before
    assert deployment.main([*words_of_certificates(), "--renew"]) == Exit.OK
    after = {path.name: path.read_bytes() for path in made.directory.iterdir()}
    assert {name for name in before if before[name] == after[name]} == {"ca.pem", "trust.pem", "trust.p12"}
    assert made.file("kafka").stat().st_mode & 0o777 == 0o444


# --- the real thing ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(services, settings) -> Iterator[str]:
    """A Kafka without a topic that is configured as compose.secure.yaml has it."""
    with kafka_of(services["kafka"]["environment"], settings) as running:
        yield running


def step(services, service: str, settings: Settings, files: dict[str, str]) -> None:
    """Runs a service's command, with the addresses and files that containers know as they are here."""
    there = {
        "kafka:9092": f"127.0.0.1:{settings.port_kafka}",
        "kafka:9094": f"127.0.0.1:{settings.port_kafka_internal}",
        **files,
    }
    module, *words = services[service]["command"]
    assert module == "tailrace.deployment"
    words = ["--samples" if word == "--demo" else word for word in words]  # as many spans, in less time
    secrets = str(settings.home / "secrets")
    for name, here in there.items():
        words = [word.replace(name, here) for word in words]
    assert deployment.main([*words, *(["--secrets", secrets] if "--accounts" in words else [])]) == Exit.OK


def produced(client: kafka_client.KafkaClient, topic: str) -> KafkaError | None:
    """The result of sending a record."""
    outcome: list[KafkaError | None] = []
    options = {"message.timeout.ms": 1000 * ANSWER_SECONDS, "log_level": 0}
    producer = Producer(client.settings(options))
    producer.produce(topic, b"", on_delivery=lambda error, _: outcome.append(error))
    assert producer.flush(2 * ANSWER_SECONDS) == 0
    return outcome[0]


def test_the_steps_secure_a_real_kafka(services, settings, files, directory, address, tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path / "home"))
    for service in ("topics", "topics", "rules", "collector-setup"):
        step(services, service, settings, files)

    home = Home(directory)
    admin = AdminClient(local_kafka.administration(settings, home).settings({}))
    made = admin.list_topics(timeout=ANSWER_SECONDS).topics
    assert {topic.name for topic in topics.load()} <= made.keys()
    lines = "tailrace.slowlog.lines"
    assert produced(local_kafka.connect(settings, home, "collector"), lines) is None
    refused = produced(local_kafka.connect(settings, home, "facts"), lines)
    assert refused and refused.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    unknown = local_kafka.connect(settings, home, "collector")
    unknown = kafka_client.KafkaClient(address, {**unknown.properties, "sasl.password": "wrong"})
    for client in (kafka_client.KafkaClient(address), unknown):
        with pytest.raises(KafkaException):
            AdminClient(client.settings({"log_level": 0})).list_topics(timeout=5)
