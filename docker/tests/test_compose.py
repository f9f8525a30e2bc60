"""compose.yaml has the same settings, versions, images and commands as the one-machine stack."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from docker.tests.conftest import DOCKER
from tailrace import (
    api,
    callbacks,
    delivery,
    evidence,
    facts,
    forwarding,
    health,
    repair,
    transparency,
    witness,
)
from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import RENAMED, Settings, variable
from tailrace.deployment import __main__ as deployment
from tailrace.evidence import signing
from tailrace.migrations import runner as migration_runner
from tailrace.programs import evidence as evidence_program
from tailrace.programs import fingerprint
from tailrace.programs.fluentbit import COLLECTOR
from tailrace_capture import __main__ as capture
from tailrace_local.components import superset
from tailrace_local.components.detect import Detect
from tailrace_local.components.evidence import Evidence
from tailrace_local.components.explain import Explain
from tailrace_local.components.flink import OPENED_PACKAGES, Flink
from tailrace_local.components.fluentbit import FluentBit

COMPOSE = (DOCKER / "compose.yaml").read_text()
DOCKERFILE = (DOCKER / "Dockerfile").read_text()
SUPERSET_DOCKERFILE = (DOCKER / "superset" / "Dockerfile").read_text()
FIELDS = {variable(field): field for field in dataclasses.fields(Settings)}
ARCHIVE = ("", "_ENDPOINT", "_REGION", "_SECRET_FILE", "_DELAY")
NOT_HERE = {
    "TAILRACE_HOME": "volumes take its place",
    "TAILRACE_HOST": "hostname of the services collector-setup and census",
    "TAILRACE_CACHE": "images take its place",
    "TAILRACE_FLUENT_BIT": "images take its place",
    "TAILRACE_SOURCES": "own-logs.yaml",
    "TAILRACE_ALERTS_CONFIG": "docker/alerts.yaml, with the profile alerts",
    "TAILRACE_CALLBACKS_CONFIG": "docker/callbacks, with the profile callbacks",
    "TAILRACE_REPORTS_CONFIG": "Superset's image has no browser that could draw reports",
    "TAILRACE_ACCESS": "own-access.yaml",
    "TAILRACE_SSO": "own-sso.yaml",
    "TAILRACE_COMPONENTS": "docker compose up SERVICE...",
    "TAILRACE_PORT_WITNESS": "inside of its container",
    **dict.fromkeys(map("TAILRACE_ARCHIVE{}".format, ARCHIVE), "own-archive.yaml"),
    "TAILRACE_PORT_KAFKA_CONTROLLER": "inside of its container",
    "TAILRACE_PORT_KAFKA_INTERNAL": "inside of its container",
    "TAILRACE_PORT_CLICKHOUSE_NATIVE": "docker compose exec clickhouse clickhouse-client",
    "TAILRACE_PSEUDONYMS": "pseudonyms.yaml",
    "TAILRACE_SOURCES_POLL_INTERVAL": "own-logs.yaml is read at a start",
    "TAILRACE_RESTART_BACKOFF_MAX": "the container engine's restart policy",
    "TAILRACE_HEALTH_INTERVAL": "health checks of the services",
    "TAILRACE_PORT_API": "18095, with the profile api",
    "TAILRACE_JVM_OPTIONS_FLINK": "FLINK_PROPERTIES of the image",
}
"""Settings of the embedded stack that compose.yaml does not take, and what stands in their place."""

STEPS = {
    "topics",
    "clickhouse-setup",
    "migrations",
    "rules",
    "collector-setup",
    "host-keys",
    "transparency-setup",
    "command",
    "superset-setup",
    "dashboards",
}
"""Services that do one thing and end."""


def job_defaults(job: str, name: str) -> dict[str, str | None]:
    """Every key of a job and its default as its enums say; None where it must be given."""
    package = {"normalize": "normalize", "detect": "detection"}[job]
    return _defaults_of("runtime/SharedJobOptions") | _defaults_of(f"{package}/{name}")


def _defaults_of(enum: str) -> dict[str, str | None]:
    source = REPOSITORY / f"stream-jobs/flink-jobs/src/main/java/io/tailrace/flink/{enum}.java"
    text = source.read_text()
    found = re.findall(r'^    \w+\("([a-z0-9.-]+)", (null|"(.*)")\)[,;]$', text, re.MULTILINE)
    constants = re.findall(r"^    ([A-Z][A-Z0-9_]+)\(", text, re.MULTILINE)
    assert len(found) == len(constants), f"{source.name}: key and default of each constant on one line"
    return {key: None if usual == "null" else text for key, usual, text in found}


def content_of(project: dict, config: str) -> dict[str, str]:
    lines = project["configs"][config]["content"].splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def image_tag(services: dict, service: str) -> str:
    return services[service]["image"].rpartition(":")[2]


def base(dockerfile: str, argument: str) -> str:
    return re.search(rf"^ARG {argument}=(\S+)$", dockerfile, re.MULTILINE)[1]


# --- settings ----------------------------------------------------------------------------------------------


def under_new_names(text: str) -> str:
    """`${NEW:-${OLD:-default}}` as `${NEW:-default}`, for the settings that were renamed."""
    for old, new in RENAMED.items():
        text = re.sub(rf"\$\{{{new.name}:-\$\{{{old}:-([^}}]*)\}}\}}", rf"${{{new.name}:-\1}}", text)
    return text


def test_every_variable_is_a_setting_with_its_own_default():
    used = re.findall(r"\$\{(\w+)(?::-([^}]*))?\}", under_new_names(COMPOSE))
    assert used
    for name, default in used:
        assert name in FIELDS, f"{name} is no setting of the embedded stack"
        assert default == str(FIELDS[name].default), name


def test_every_setting_has_its_place():
    used = {name for name, _ in re.findall(r"\$\{(\w+)(:-[^}]*)?\}", under_new_names(COMPOSE))}
    assert used | NOT_HERE.keys() == FIELDS.keys(), (
        "use each setting as ${NAME:-default} in docker/compose.yaml, or name what replaces it in NOT_HERE "
        "of docker/tests/test_compose.py"
    )
    assert not used & NOT_HERE.keys(), "settings that compose.yaml uses: remove them from NOT_HERE"


@pytest.mark.parametrize(
    ("config", "component", "job", "keys"),
    [
        ("normalize.yaml", Flink, "normalize", "NormalizeJobOptions"),
        ("detect.yaml", Detect, "detect", "DetectionJobOptions"),
    ],
)
def test_jobs_are_configured_as_the_embedded_ones(project, settings, home, config, component, job, keys):
    given, defaults = content_of(project, config), job_defaults(job, keys)
    assert given.keys() <= defaults.keys(), f"{config} of docker/compose.yaml has keys that {keys} lacks"
    on_the_command_line = {"checkpoint.dir"}  # docker/flink/tailrace-job
    assert {key for key, usual in defaults.items() if usual is None} == on_the_command_line | {
        key for key in given if defaults[key] is None
    }, f"{config} of docker/compose.yaml needs the keys that have no default in {keys}"
    for key, value in component(settings, home).job_configuration().items():
        assert given.get(key, defaults[key]) == str(value), (
            f"{key} in {config} of docker/compose.yaml: the one-machine stack has {value}"
        )


def test_defaults_of_the_job_keep_rows_as_long_as_the_tables():
    kept, defaults = migration_runner.load_retention(), job_defaults("normalize", "NormalizeJobOptions")
    for key in (key for key in defaults if key.startswith("retention.")):
        assert defaults[key] == str(kept[key.split(".")[1].replace("-", "_")])


def test_settings_reach_their_services(compose):
    changed = compose(
        "compose.yaml",
        variables={
            "TAILRACE_PORT_SUPERSET": "18999",
            "TAILRACE_GAP_TIMEOUT": "7",
            "TAILRACE_DETECT_PARALLELISM": "3",
        },
    )
    assert changed["services"]["superset"]["ports"][0]["published"] == "18999"
    assert content_of(changed, "normalize.yaml")["gap.timeout.ms"] == "7000"
    assert content_of(changed, "detect.yaml")["parallelism"] == "3"
    task_manager = changed["services"]["detect-taskmanager"]["environment"]
    assert task_manager["TASK_MANAGER_NUMBER_OF_TASK_SLOTS"] == "3"


def test_a_renamed_setting_applies_under_its_old_name(compose):
    changed = compose("compose.yaml", variables={"TAILRACE_ALERT_GROUP": "7", "TAILRACE_CAPTURE_POLL": "8"})
    assert content_of(changed, "detect.yaml")["alerts.group.interval.ms"] == "7000"
    given = changed["services"]["capture"]["environment"]
    assert given["TAILRACE_CAPTURE_POLL_INTERVAL"] == "8"


def test_kafka_has_the_embedded_properties(services):
    template = (REPOSITORY / "embedded/kafka/server.properties.template").read_text()
    lines = [line for line in template.splitlines() if line and not line.startswith("#")]
    wanted = {key: value for key, _, value in (line.partition("=") for line in lines) if "${" not in value}
    different = {"listener.security.protocol.map"}  # one listener more, for this machine's programs
    environment = services["kafka"]["environment"]
    for key in wanted.keys() - different:
        assert environment["KAFKA_" + key.upper().replace(".", "_")] == wanted[key], key


def test_fluent_bit_has_the_embedded_environment_and_paths(services, settings, home):
    given = services["fluentbit"]["environment"]
    embedded = FluentBit(settings, home).environment()
    assert given.keys() == embedded.keys()
    here, there = str(home.root), "/var/lib/tailrace"
    for name in ("TAILRACE_STATE", "TAILRACE_CENSUS_SPOOL", "TAILRACE_CAPTURE_SPOOL"):
        assert given[name] == embedded[name].replace(here, there)
    for name in ("TAILRACE_KAFKA_SECURITY_PROTOCOL", "TAILRACE_KAFKA_SASL_MECHANISM"):
        assert given[name] == embedded[name]
    # The tools' image has the repository in this directory: what it includes must lie in the same one here.
    assert given["TAILRACE_COLLECTOR_DIR"] == str(COLLECTOR).replace(str(REPOSITORY), "/opt/tailrace")
    command = [str(word) for word in FluentBit(settings, home).command()[1:]]
    assert services["fluentbit"]["entrypoint"][1:] == [word.replace(here, there) for word in command]


def test_versions_are_the_embedded_ones(services):
    kafka = (REPOSITORY / "embedded/kafka/pom.xml").read_text()
    assert image_tag(services, "kafka") == re.search(r"<kafka.version>(.*)</kafka.version>", kafka)[1]
    flink = (REPOSITORY / "embedded/flink/pom.xml").read_text()
    version = re.search(r"<flink.version>(.*)</flink.version>", flink)[1]
    assert base(DOCKERFILE, "FLINK_IMAGE") == f"flink:{version}-java17"
    requirements = (REPOSITORY / "embedded/superset/requirements.in").read_text()
    version = re.search(r"^apache_superset==(.*)$", requirements, re.MULTILINE)[1]
    assert base(SUPERSET_DOCKERFILE, "SUPERSET_IMAGE") == f"apache/superset:{version}"
    # libchdb's packages count their own patches: 26.7.3 of chDB is a build of 26.7 of the server.
    library = (REPOSITORY / "embedded/clickhouse/package.json").read_text()
    assert re.search(r'"26\.7\.\d+-stable\.\d+"', library)
    assert image_tag(services, "clickhouse") == "26.7"
    # The embedded stack builds 1.8.15, because no registry has a newer one; collectors/ runs on both.
    assert image_tag(services, "fluentbit").startswith("5.1.")
    assert "Fluent Bit 5.1" in (REPOSITORY / "collectors/README.md").read_text()


@pytest.mark.parametrize("dockerfile", [DOCKERFILE, SUPERSET_DOCKERFILE])
def test_labels_name_the_base(dockerfile):
    bases = set(re.findall(r"^ARG (\w+_IMAGE)=", dockerfile, re.MULTILINE))
    named = re.findall(r'image.base.name="docker.io/(?:library/)?(\S+)"', dockerfile)
    assert set(named) == {base(dockerfile, argument) for argument in bases}


def test_images_of_others_are_pinned_and_ours_are_built(services):
    for name, service in services.items():
        tag = image_tag(services, name)
        assert re.fullmatch(r"\d+\.\d+(\.\d+)?", tag), f"{name}: {tag}"
        assert service["image"].startswith("tailrace/") == ("build" in service)


def test_commands_are_ones_that_the_modules_take(services, monkeypatch):
    tools = {name: each for name, each in services.items() if each["image"].startswith("tailrace/tools")}
    services_of_the_tools = {"facts", "delivery", "metrics", "census", "capture", "explain", "evidence"}
    services_of_the_tools |= {"callbacks", "fingerprint", "repair", "forwarding", "pull"}
    services_of_the_tools |= {"api", "transparency", "witness"}
    expected = services_of_the_tools | STEPS - {"superset-setup"}
    assert expected == tools.keys()
    for service in tools.values():
        module, *words = service["command"]
        if module == "tailrace.deployment":
            assert deployment._parser().parse_args(words)
        elif module == "tailrace_capture":
            assert capture._parser().parse_args(words)
        else:
            parse = {
                "tailrace.api": api,
                "tailrace.callbacks": callbacks,
                "tailrace.facts": facts,
                "tailrace.delivery": delivery,
                "tailrace.evidence": evidence,
                "tailrace.forwarding": forwarding,
                "tailrace.health": health,
                "tailrace.repair": repair,
                "tailrace.transparency": transparency,
                "tailrace.witness": witness,
            }[module]
            monkeypatch.setattr(sys, "argv", [module, *words])
            assert __import__(f"{parse.__name__}.__main__", fromlist=["_arguments"])._arguments()


@pytest.mark.parametrize("name", ["facts", "delivery", "callbacks"])
def test_heartbeats_are_where_they_can_be_written_and_are_read(services, settings, home, name):
    (beat,) = (
        word.removeprefix("--heartbeat-file=")
        for word in services[name]["command"]
        if "--heartbeat-file=" in word
    )
    component = deployment.HEALTH_CHECKS[name](settings, home)
    assert beat == str(component._heartbeat()).replace(str(home.root), "/var/lib/tailrace")
    assert str(Path(beat).parent) in services[name]["tmpfs"]


def test_who_is_another_user_has_a_home_that_he_may_read(services):
    (owner,) = re.findall(r"^USER (\d+:\d+)\nENTRYPOINT", DOCKERFILE, re.MULTILINE)
    for name, service in services.items():
        if service["image"].startswith("tailrace/tools") and service.get("user", owner) != owner:
            its_own = service.get("environment", {}).get("TAILRACE_HOME", "/var/lib/tailrace")
            made_for_it = re.search(rf"--owner=(\d+) --group=(\d+) --mode=0700 {its_own} ", DOCKERFILE)
            assert its_own in service["tmpfs"] or ":".join(made_for_it.groups()) == service["user"], name


def test_superset_runs_as_the_embedded_one(settings, home):
    command = yaml.safe_load(
        re.search(r"^CMD (\[.*?\])$", SUPERSET_DOCKERFILE, re.MULTILINE | re.DOTALL)[1].replace("\\\n", "")
    )
    embedded = [str(word) for word in superset.Superset(settings, home).command()]
    bind = embedded.index("--bind") + 1
    assert command[1:bind] == embedded[1:bind]
    assert command[bind + 1 :] == embedded[bind + 1 :]
    assert "COPY embedded/superset/static_assets.py " in SUPERSET_DOCKERFILE
    assert "static_assets.py /app/superset/static/assets" in SUPERSET_DOCKERFILE


def test_supersets_driver_comes_from_the_embedded_lock():
    program = re.search(r"awk '(.*)' /tmp/requirements.lock", SUPERSET_DOCKERFILE)[1]
    lock = superset.REQUIREMENTS
    taken = subprocess.run(["awk", program, lock], capture_output=True, text=True, check=True).stdout
    pinned = re.findall(r"^([a-z0-9-]+)==", taken, re.MULTILINE)
    assert pinned == ["authlib", "backports-zstd", "clickhouse-connect", "confluent-kafka", "joserfc", "lz4"]
    assert taken.count("--hash=sha256:") >= len(pinned)


def test_flink_is_opened_and_limited_as_the_embedded_one(services):
    configuration = yaml.safe_load((DOCKER / "flink/config.yaml").read_text())
    opened = set(re.findall(r"--add-opens=java.base/(\S+)=ALL-UNNAMED", configuration["env.java.opts.all"]))
    assert opened == set(OPENED_PACKAGES)
    properties = services["detect-taskmanager"]["environment"]["FLINK_PROPERTIES"]
    assert f"env.java.opts.taskmanager: {' '.join(Detect.jvm_options)}\n" in properties


def test_explain_runs_as_the_embedded_one(services, settings, home):
    embedded = [
        str(word).replace(str(home.root), "/var/lib/tailrace") for word in Explain(settings, home).command()
    ]
    words = zip(embedded[4::2], embedded[5::2], strict=True)
    expected = {name: value for name, value in words if name not in ("--clickhouse", "--password-file")}
    given = dict(word.split("=", 1) for word in services["explain"]["command"][2:])
    assert services["explain"]["command"][:2] == embedded[2:4]
    assert given == {
        **expected,
        "--clickhouse": "http://clickhouse:8123",
        "--password-file": "/run/secrets/clickhouse-explain",
    }


SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of a JVM that compiles and runs a small program: C2 and a parallel collector would cost more."""


def options_of(words: list[str]) -> dict[str, str]:
    """`--name value` and `--name=value` by name."""
    parts = [part for word in words for part in word.split("=", 1)]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_evidence_runs_as_the_embedded_one(services, settings, home):
    service = services["evidence"]
    here, there = str(home.root), service["environment"]["TAILRACE_HOME"]
    embedded = [str(word).replace(here, there) for word in Evidence(settings, home).command()]
    assert service["command"][0] == embedded[2]
    # Backtests need the jar, and proofs the transparency log, which only one machine has (ADR 0052, 0062).
    options = options_of(embedded[3:])
    assert options_of(service["command"][1:]) == {
        **{name: value for name, value in options.items() if not name.startswith(("--backtest", "--home"))},
        "--clickhouse": "http://clickhouse:8123",
        "--password-file": "/run/secrets/clickhouse-auditor",
        "--key": f"/run/secrets/{signing.SECRET}",
        "--access": "/etc/tailrace/access.yaml",
    }


def test_superset_reaches_the_sockets_of_its_services_and_cannot_replace_them(services):
    serving = services["superset"]
    (mounted,) = (volume for volume in serving["volumes"] if volume["source"] == "sockets")
    assert mounted["read_only"]
    for name, socket_of in (("evidence", evidence_program.socket_of), ("fingerprint", fingerprint.socket_of)):
        service = services[name]
        socket = socket_of(Home(Path(service["environment"]["TAILRACE_HOME"])))
        (made,) = (volume for volume in service["volumes"] if volume["source"] == "sockets")
        assert made["target"] == str(socket.parent)
        seen = serving["environment"][f"SUPERSET_{name.upper()}_SOCKET"]
        assert seen == f"{mounted['target']}/{socket.name}"
        (user,) = re.findall(r"^USER (\d+:\d+)\nEXPOSE", SUPERSET_DOCKERFILE, re.MULTILINE)
        assert service["user"] == user


def test_limits_hold_what_flink_computes_of_its_configuration(services, settings, flink_libraries):
    sizes = {}
    for manager, worker in (("flink", "flink-taskmanager"), ("detect", "detect-taskmanager")):
        given = services[worker]["environment"]["FLINK_PROPERTIES"].splitlines()
        memory = [line.replace(": ", "=") for line in given if ".memory." in line]
        program = [DOCKER / "tests/flink/ProcessSizes.java", DOCKER / "flink", *memory]
        command = ["java", *SHORT_LIVED, "-cp", f"{flink_libraries}/*", *program]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        sizes[manager], sizes[worker] = map(int, printed.splitlines()[-1].split())
    for name, size in sizes.items():
        limit = int(services[name]["deploy"]["resources"]["limits"]["memory"])
        assert size <= limit <= 2 * size, name
