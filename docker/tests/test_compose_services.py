"""Rights, secrets, addresses, limits and health of the services of compose.yaml."""

import re
import subprocess
from pathlib import Path

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from docker.tests.conftest import DOCKER
from docker.tests.test_compose import FIELDS, NOT_HERE, STEPS, options_of
from tailrace.api import accounts, tokens
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.server_config import USERS_TEMPLATE
from tailrace.dashboards import connections as superset_connections
from tailrace.deployment import __main__ as deployment
from tailrace.evidence import signing
from tailrace.signing import local_key
from tailrace.signing.registry import Registry
from tailrace.transparency import keys
from tailrace_local.components import superset
from tailrace_local.components.api import Api
from tailrace_local.components.pull import Pull
from tailrace_local.components.repair import Repair
from tailrace_local.components.transparency import Transparency
from tailrace_local.components.witness import Witness

CANNOT_BE_ASKED = {"fluentbit"}
"""Images without a shell or client."""
SECRETS = {
    "flink": {"clickhouse-writer"},
    "flink-taskmanager": {"clickhouse-writer"},
    "detect": {"clickhouse-writer"},
    "detect-taskmanager": {"clickhouse-writer"},
    "facts": {"clickhouse-facts"},
    "delivery": {
        *("clickhouse-delivery", "clickhouse-reader_developer", "clickhouse-reader_compliance"),
        "clickhouse-reader_security",
    },
    "callbacks": {"clickhouse-analyst"},
    "explain": {"clickhouse-explain"},
    "repair": {"clickhouse-repair"},
    "metrics": {"clickhouse-reader_compliance"},
    "migrations": {"clickhouse-admin"},
    "command": {"clickhouse-admin", "clickhouse-auditor"},
    "retention": {"clickhouse-admin", "clickhouse-auditor"},
    "api": {
        *("clickhouse-api", "clickhouse-analyst"),
        *(f"clickhouse-reader_{role}" for role in ("developer", "compliance", "security")),
    },
    "transparency-setup": {keys.LOG_KEY, keys.WITNESS_KEY},
    "transparency": {"clickhouse-auditor", keys.LOG_KEY},
    "witness": {keys.WITNESS_KEY},
    "evidence": {"clickhouse-auditor", signing.SECRET},
    "superset": {superset.SECRET_KEY, "clickhouse-witness", "clickhouse-analyst"},
    "superset-setup": {
        *(superset.SECRET_KEY, superset_connections.PASSWORD),
        *("clickhouse-witness", "clickhouse-analyst"),
    },
    "dashboards": {
        superset_connections.PASSWORD,
        *map(superset_connections.password_of, superset_connections.USERS),
        *(f"clickhouse-{user}" for user in superset_connections.DATABASE_USERS.values()),
    },
}
"""Which service may know which secret; all others none, save the one that writes ClickHouse's users."""
KEYS = {signing.SECRET, keys.LOG_KEY, keys.WITNESS_KEY}
API_PORT = "18095"


def clickhouse_accounts() -> set[str]:
    """The secrets of the users in ClickHouse's template."""
    found = re.findall(r"\$\{([A-Z_]+)_PASSWORD_SHA256\}", USERS_TEMPLATE.read_text())
    return {f"clickhouse-{name.lower()}" for name in found}


def test_each_service_knows_its_own_secrets_only(services):
    for name, service in services.items():
        known = {secret["source"] for secret in service.get("secrets", [])}
        expected = clickhouse_accounts() if name == "clickhouse-setup" else SECRETS.get(name, set())
        assert known == expected, name


def test_secrets_are_those_of_the_accounts(project):
    of_superset = {
        superset_connections.PASSWORD,
        superset.SECRET_KEY,
        *map(superset_connections.password_of, superset_connections.USERS),
    }
    assert project["secrets"].keys() == clickhouse_accounts() | of_superset | KEYS
    for name, secret in project["secrets"].items():
        assert secret["file"] == f"secrets/{name}"


def test_every_account_but_the_engines_own_may_connect_from_where_clients_are():
    users = USERS_TEMPLATE.read_text().partition("<users>")[2]
    networks = dict(
        re.findall(r"^    <(\w+)>\n(?:.*\n)*?      <networks>(.*)</networks>", users, re.MULTILINE)
    )
    assert networks.pop("default") == "<ip>127.0.0.1</ip>"
    assert {f"clickhouse-{name}" for name in networks} == clickhouse_accounts()
    assert set(networks.values()) == {"${CLIENT_NETWORKS}"}


def test_make_secrets_makes_each_secret_once(tmp_path):
    files = ("compose.yaml", "compose.secure.yaml")
    for name in ("make-secrets", *files):
        (tmp_path / name).write_bytes((DOCKER / name).read_bytes())
    made = [_make_secrets(tmp_path) for _ in range(2)]
    assert made[0] == made[1]
    for_fluent_bit = made[0].pop("kafka-collector.env")
    assert for_fluent_bit == f"TAILRACE_KAFKA_SASL_PASSWORD={made[0]['kafka-collector']}\n"
    pems = {made[0].pop(name) for name in KEYS}
    assert len(pems) == len(KEYS)
    for pem in pems:
        key = serialization.load_pem_private_key(pem.encode(), None)
        assert isinstance(key, ed25519.Ed25519PrivateKey)
    named = {name: each for file in files for name, each in yaml.safe_load(_plain(file))["secrets"].items()}
    named = {name: each for name, each in named.items() if name not in KEYS}
    passwords = {name for name, each in named.items() if each["file"] == f"secrets/{name}"}
    assert made[0].keys() == passwords
    assert named.keys() - passwords == {"tls-trust", "tls-kafka", "tls-admin", "tls-superset"}
    assert len(set(made[0].values())) == len(made[0])
    assert all(re.fullmatch(r"[0-9a-f]{32}", value) for value in made[0].values())
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700


def _plain(file: str) -> str:
    """Without Compose's own tags."""
    return (DOCKER / file).read_text().replace("!reset", "")


def _make_secrets(directory: Path) -> dict[str, str]:
    subprocess.run(["bash", directory / "make-secrets"], check=True)
    return {path.name: path.read_text() for path in (directory / "secrets").iterdir()}


def test_ports_are_published_on_loopback_where_the_settings_say(services):
    published = {}
    for service in services.values():
        for port in service.get("ports", []):
            assert port["host_ip"] == "127.0.0.1"
            published[port["published"]] = service
    ports = {name: field.default for name, field in FIELDS.items() if name.startswith("TAILRACE_PORT_")}
    assert published.keys() == {str(port) for name, port in ports.items() if name not in NOT_HERE} | {
        API_PORT
    }


def test_no_service_has_rights_that_it_does_not_need(services):
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert not service.get("privileged"), name
        assert service.get("user", "") not in ("root", "0", "0:0"), name


def test_every_service_has_limits_above_its_heap(services):
    heaps = {
        "kafka": "TAILRACE_MEMORY_KAFKA",
        "clickhouse": "TAILRACE_MEMORY_CLICKHOUSE",
        "flink-taskmanager": "TAILRACE_MEMORY_FLINK",
        "detect-taskmanager": "TAILRACE_MEMORY_DETECT",
    }
    for name, service in services.items():
        limits = service["deploy"]["resources"]["limits"]
        assert float(limits["cpus"]) > 0
        assert limits["pids"] > 0
        heap = FIELDS[heaps[name]].default if name in heaps else 0
        assert int(limits["memory"]) >= (heap + 256) * 1024 * 1024, name


def test_services_wait_for_the_health_of_what_they_need(services):
    for name, service in services.items():
        for needed, wait in service.get("depends_on", {}).items():
            expected = "service_completed_successfully" if needed in STEPS else "service_healthy"
            if name.endswith("-taskmanager"):  # a JobManager is healthy when its job runs, which needs this
                expected = "service_started"
            assert wait["condition"] == expected, f"{name} needs {needed}"


def test_who_stays_can_be_asked_how_he_is(services):
    for name, service in services.items():
        check = service.get("healthcheck", {})
        if name in STEPS:
            assert check.get("disable"), name
            assert service["restart"] == "no", name
        else:
            assert bool(check.get("test")) != (name in CANNOT_BE_ASKED), name
            assert service["restart"] == "unless-stopped", name


def test_addresses_are_of_services_that_listen_there(services, project):
    listening = {
        "kafka": {"9092"},
        "clickhouse": {"8123"},
        "superset": {"8088"},
        "flink": {"8081"},
        "detect": {"8081"},
        "witness": {"18092"},
    }
    texts = [
        str(each)
        for service in services.values()
        for each in (service.get("command"), service.get("environment"))
    ]
    texts += [config["content"] for config in project["configs"].values()]
    found = re.findall(rf"\b({'|'.join(services)}):(\d+)", "\n".join(texts))
    assert {host for host, _ in found} == listening.keys()
    for host, port in found:
        assert port in listening[host]
    assert "PLAINTEXT://kafka:9092" in services["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]


def test_fingerprints_are_computed_without_a_network(services):
    service = services["fingerprint"]
    assert service["network_mode"] == "none"
    home = service["environment"]["TAILRACE_HOME"]
    # It runs in this directory, as the supervisor starts it.
    assert f"{home}/data/{service['command'][-1]}" in service["tmpfs"]


def test_repair_runs_as_the_embedded_one(services, settings, home):
    service = services["repair"]
    here, there = str(home.root), "/var/lib/tailrace"
    embedded = [str(word).replace(here, there) for word in Repair(settings, home).command()]
    assert service["command"][0] == embedded[2]
    assert options_of(service["command"][1:]) == {
        **options_of(embedded[3:]),
        "--host": services["census"]["hostname"],
        "--kafka": "kafka:9092",
        "--clickhouse": "http://clickhouse:8123",
        "--password-file": "/run/secrets/clickhouse-repair",
    }


def test_pull_runs_as_the_embedded_one_with_the_chain_of_the_sdk(
    compose, services, settings, home, monkeypatch
):
    service = services["pull"]
    started: list[list[str]] = []
    monkeypatch.setenv("TAILRACE_HOME", str(home.root))
    monkeypatch.setattr(deployment.os, "chdir", lambda _: None)
    monkeypatch.setattr(deployment.os, "execvpe", lambda *given: started.append([*given]))
    assert deployment.main(service["command"][1:]) == Exit.OK
    ((_, command, environment),) = started
    embedded = [str(word) for word in Pull(settings, home).command()]
    assert command[:4] == embedded[:4]
    changed = {"--kafka": "kafka:9092", "--name": "compose", "--host": "pull-compose"}
    assert options_of(command[4:]) == {**options_of(embedded[4:]), **changed}
    assert environment["PYTHONPATH"] == Pull(settings, home).environment()["PYTHONPATH"]

    unset = {name for name, value in service["environment"].items() if value is None}
    assert unset == service["environment"].keys() - {"TAILRACE_SIGN_LOGS"}, "they must not be empty"
    variables = {"AWS_PROFILE": "logs", "AWS_ACCESS_KEY_ID": "AKIA"}
    given = compose("compose.yaml", variables=variables)["services"]
    assert {**given["pull"]["environment"], **variables} == given["pull"]["environment"]
    knowing = {name for name, each in given.items() if "AWS_PROFILE" in each.get("environment", {})}
    assert knowing == {"pull"}


def test_the_puller_has_a_registered_key_before_its_lines_arrive(services, settings, home, monkeypatch):
    """collector-setup makes it, and host-keys publishes it before the puller starts."""
    monkeypatch.setenv("TAILRACE_HOME", str(home.root))
    home.root.mkdir(exist_ok=True)
    sources = "- {instance: db-2, source: slowlog, kind: rds, region: eu-central-1}\n"
    (home.root / "sources.yaml").write_text(sources)
    assert deployment.main(["collector"]) == Exit.OK
    registered = {key.host for key in Registry(home).keys().values()}
    assert {"pull-compose"} < registered
    assert local_key.of_pull(home, "compose").file.stat().st_mode & 0o777 == 0o600
    for name in ("pull", "collector-setup", "census"):
        assert services[name]["environment"]["TAILRACE_SIGN_LOGS"] == "1", name
    assert services["pull"]["depends_on"].keys() >= {"host-keys"}


def test_the_transparency_log_and_its_witness_run_as_the_embedded_ones(services, settings, home):
    here, there = str(home.root), "/var/lib/tailrace"
    components = {"transparency": Transparency(settings, home), "witness": Witness(settings, home)}
    of_compose = {
        "transparency": {
            "--key": f"/run/secrets/{keys.LOG_KEY}",
            "--keys-file": "/run/collector/keys/hosts.json",
            "--clickhouse": "http://clickhouse:8123",
            "--password-file": "/run/secrets/clickhouse-auditor",
        },
        "witness": {
            "--key": f"/run/secrets/{keys.WITNESS_KEY}",
            "--name": "compose/witness",
            "--log": "/run/transparency/transparency/log.vkey",
            "--bind": "0.0.0.0",
        },
    }
    for name, component in components.items():
        embedded = [str(word).replace(here, there) for word in component.command()]
        assert services[name]["command"][0] == embedded[2]
        expected = {**options_of(embedded[3:]), **of_compose[name]}
        assert options_of(services[name]["command"][1:]) == expected
    volumes = {
        name: {each["source"] for each in services[name]["volumes"] if not each.get("read_only")}
        for name in components
    }
    assert volumes == {"transparency": {"transparency"}, "witness": {"witness"}}


def test_the_api_runs_as_the_embedded_one_and_reaches_the_evidence_service(services, settings, home):
    options = options_of([str(word) for word in Api(settings, home).command()][3:])
    made = Path(options_of(services["evidence"]["command"][1:])["--socket"])
    (sockets,) = (each for each in services["api"]["volumes"] if each["source"] == "sockets")
    assert sockets["read_only"]
    assert services["api"]["user"] == services["evidence"]["user"], "only its owner may connect"
    assert services["api"]["command"][0] == "tailrace.api"
    assert options_of(services["api"]["command"][1:]) == {
        **options,
        "--clickhouse": "http://clickhouse:8123",
        "--secrets": "/run/secrets",
        "--host": "0.0.0.0",
        "--port": API_PORT,
        "--evidence-socket": f"{sockets['target']}/{made.name}",
    }
    used = {f"reader_{role}" for role in tokens.ROLES} | {accounts.SERVICE, accounts.ANALYST}
    assert {f"clickhouse-{name}" for name in used} == SECRETS["api"]
