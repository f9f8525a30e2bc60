"""Our images built for real, and what is in them run: by buildah, without a container engine, as root.

In the place of the engines' images stands a Debian made by debootstrap: the layers are ours, what they lie on
is not what users get. Containers are processes in a changed root directory: they see this machine's network,
and nothing limits them.
"""

import os
import re
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docker.tests import built_images
from docker.tests.built_images import FLINK, Buildah, configuration, disk_usage, exists, images_in
from docker.tests.built_images import base as base  # fixtures
from docker.tests.built_images import bud as bud
from docker.tests.built_images import build as build
from docker.tests.built_images import buildah as buildah
from docker.tests.built_images import flink_base as flink_base
from docker.tests.built_images import superset as superset
from docker.tests.built_images import superset_base as superset_base
from docker.tests.built_images import tools as tools
from docker.tests.conftest import DOCKER, ToOutput
from docker.tests.test_steps import running, settings_with_free_ports
from docker.tests.test_superset_stores import free_port, listening
from tailrace import __version__
from tailrace.clickhouse.client import ClickHouse
from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import Settings
from tailrace.credentials.names import password_name
from tailrace.kafka import topics
from tailrace.migrations import migration_files
from tailrace_local import java_build
from tailrace_local.components.clickhouse import ClickHouse as ClickHousePart

pytestmark = [pytest.mark.long, pytest.mark.timeout(5400)]

MEGABYTE = 1_000_000
TOOLS_MEGABYTES = 250
"""At most, above the base: a node pulls them for each version."""
START_SECONDS = 300
"""Superset's, of a page; it took a minute on two cores at a load of 25."""


@pytest.fixture(scope="module")
def container(buildah: Buildah, tools: str) -> Iterator[str]:
    name = buildah("from", tools).strip()
    yield name
    buildah("rm", name)


@pytest.fixture(scope="module")
def run(buildah: Buildah, container: str) -> Callable[..., str]:
    """Runs the image's entry point with these words, as its user. Fails if it does."""
    entry = configuration(buildah, container)["Entrypoint"]

    def in_container(*words: str, mounts: tuple[str, ...] = ()) -> str:
        options = [word for mount in mounts for word in ("--volume", mount)]
        return buildah("run", "--isolation", "chroot", *options, container, "--", *entry, *words)

    return in_container


def size(buildah: Buildah, image: str) -> int:
    """Bytes of an image's files, as they lie in its root directory."""
    container = buildah("from", image).strip()
    root = buildah("mount", container).strip()
    counted = disk_usage(Path(root))
    buildah("rm", container)
    return counted


def test_what_is_left_of_a_run_that_fails_is_its_named_images(tmp_path, monkeypatch):
    """In a store of its own, with next to nothing in it."""
    file = tmp_path / "file"
    file.write_text("content")
    with pytest.raises(ZeroDivisionError), images_in(tmp_path / "images") as buildah:
        container = buildah("from", "scratch").strip()
        for name in ("first", "second"):  # the second takes the name from the first
            buildah("copy", container, file, f"/{name}")
            buildah("commit", container, "localhost/kept")
        buildah("mount", container)
        raise ZeroDivisionError
    monkeypatch.setattr(built_images, "KEPT_BYTES", 0)
    with images_in(tmp_path / "images") as buildah:
        assert buildah("containers", "--quiet") == ""
        assert len(buildah("images", "--quiet").split()) == 2
    with images_in(tmp_path / "images") as buildah:
        assert len(buildah("images", "--quiet").split()) == 1
        assert exists(buildah, "localhost/kept")


def test_the_command_line_runs_as_its_user(buildah, container, run):
    assert run("tailrace", "--version") == f"tailrace {__version__}\n"
    who = buildah("run", "--isolation", "chroot", container, "--", "id", "--user").strip()
    assert who == configuration(buildah, container)["User"].partition(":")[0] == "10001"


def test_a_digest_is_that_of_this_machine(run):
    sample = "samples/mysql-8.0.46.slow.log"
    # Not inherited: pytest loads readline, which sets COLUMNS behind Python's back.
    environment = dict(os.environ)
    here = subprocess.run(
        ["bin/tailrace", "digest", sample],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert here.returncode == 0, here.stderr
    assert run("tailrace", "digest", sample) == here.stdout


def test_the_classes_are_mapped_from_their_archive(buildah, container):
    """Made for another Java it would be passed over without a word."""
    jar = java_build._entry(Settings.from_environment()).name
    command = (
        f"java -XX:+UseSerialGC -XX:SharedArchiveFile=/opt/jars/jobs/{jar}/cli.jsa -Xlog:class+load "
        f"-jar /opt/jars/jobs/{jar}/cli.jar --version"
    )
    printed = buildah("run", "--isolation", "chroot", container, "--", "sh", "-c", command)
    assert printed.count("shared objects file (top)") > 300


@pytest.mark.parametrize(
    "words",
    [
        ("tailrace.deployment", "topics"),
        ("tailrace.deployment", "dashboards"),
        ("tailrace.facts",),
        ("tailrace.delivery",),
        ("tailrace.evidence",),
        ("tailrace.api",),
        ("tailrace.transparency",),
        ("tailrace.witness",),
    ],
)
def test_entry_points_load(run, words):
    assert run(*words, "--help").startswith("usage: ")


def test_the_services_of_aws_that_tailrace_calls_are_there(buildah, container):
    sources = [
        *(REPOSITORY / "collectors/pull").rglob("*.py"),
        *(REPOSITORY / "embedded/tailrace").rglob("*.py"),
    ]
    called = {
        name for file in sources for name in re.findall(r'\.client\(\s*"([a-z0-9]+)"', file.read_text())
    }
    assert called >= {"rds", "logs", "s3"}
    made = (
        f"import boto3; [boto3.client(name, region_name='eu-west-1') for name in {sorted(called | {'sts'})}]"
    )
    buildah("run", "--isolation", "chroot", container, "--", "python", "-c", made)


def test_the_collector_is_configured_and_the_census_and_capture_start(buildah, container, run, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 10001, 10001)
    mounts = (f"{home}:/var/lib/tailrace",)
    run("tailrace.deployment", "collector", mounts=mounts)
    written = (home / "data/fluentbit/configuration/tailrace.conf").read_text()
    assert "/opt/tailrace/collectors/fluent-bit/kafka.conf" in written
    for program in (["/opt/tailrace/collectors/census/census.py"], ["-m", "tailrace_capture"]):
        environment = ["--env", "PYTHONPATH=/opt/tailrace/collectors/capture"]
        options = ["--isolation", "chroot", *environment, container]
        assert "usage: " in buildah("run", *options, "--", "python", *program, "--help")


def test_migrations_are_applied_to_a_real_clickhouse(run, tmp_path):
    settings = settings_with_free_ports(tmp_path / "stack")
    component = ClickHousePart(settings, Home(settings.home))
    if not component.installed():
        component.install(ToOutput())
    component.prepare()
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for name in ("admin", "reader_developer"):
        (secrets / password_name(name)).write_text(component.home.secret(password_name(name)))
    with running(component, [str(word) for word in component.command()]):
        step = ("tailrace.deployment", "migrations", "--clickhouse", component.address())
        printed = [run(*step, mounts=(f"{secrets}:/run/secrets:ro",)) for _ in range(2)]
        reader = ClickHouse(
            component.address(), "reader_developer", component.home.secret(password_name("reader_developer"))
        )
        assert reader.execute("SELECT count() FROM tailrace.query_events") == "0\n"
    assert len(printed[0].splitlines()) == len(migration_files.load_migrations())
    assert printed[1] == ""


def test_what_is_in_the_image_is_what_is_needed(buildah, container):
    root = Path(buildah("mount", container).strip())
    assert not list((root / "var/cache/apt").glob("archives/*.deb"))
    assert not (root / "opt/venv/bin/pip").exists()
    assert len(topics.load()) == (root / "opt/tailrace/schemas/topics.yaml").read_text().count("- name:")


def test_services_of_the_dashboards_have_directories_of_supersets_user(buildah, container, superset):
    home = Path(buildah("mount", container).strip()) / "var/lib/tailrace-dashboards"
    uid, gid = map(int, configuration(buildah, superset)["User"].split(":"))
    for directory in (home, home / "run", home / "data", home / "data/evidence"):
        status = directory.stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (uid, gid, 0o700), directory


def test_images_are_described(buildah, tools):
    given = configuration(buildah, tools)
    labels = {
        name.rpartition(".")[2] for name in given["Labels"] if name.startswith("org.opencontainers.image")
    }
    assert labels >= {"title", "description", "version"}
    assert given["Healthcheck"]["Test"] == ["CMD", "python", "-m", "tailrace", "--version"]


@pytest.fixture(scope="module")
def superset_container(buildah: Buildah, superset: str) -> Iterator[str]:
    name = buildah("from", superset).strip()
    yield name
    buildah("rm", name)


def test_superset_sends_nothing_to_who_counts_visits(buildah, superset_container):
    assets = Path(buildah("mount", superset_container).strip()) / "app/superset/static/assets"
    entries = [path.read_text() for path in assets.glob("*.entry.js")]
    assert entries
    assert not any("scarf.sh" in text for text in entries)


def test_superset_makes_its_metadata_and_serves(buildah, superset_container, tmp_path):
    """With the words of compose.yaml, as its own user, until it is healthy; on a port that is free."""
    home, secrets = tmp_path / "home", tmp_path / "secrets"
    for directory in (home, secrets):
        directory.mkdir()
    os.chown(home, 1000, 1000)
    for name in ("superset-admin", "superset-secret-key", "clickhouse-witness"):
        (secrets / name).write_text(f"secret of {name}\n")
    mounts = (f"{home}:/var/lib/superset", f"{secrets}:/run/secrets:ro")
    environment = (
        "SUPERSET_SECRET_KEY_FILE=/run/secrets/superset-secret-key",
        "SUPERSET_ACCESS_RECORDER_URL=http://127.0.0.1:1",
        "SUPERSET_ACCESS_RECORDER_PASSWORD_FILE=/run/secrets/clickhouse-witness",
    )
    options = [word for each in mounts for word in ("--volume", each)]
    options += [word for each in environment for word in ("--env", each)]
    container = ("run", "--isolation", "chroot", *options, superset_container, "--")
    assert buildah(*container, "id", "--user").strip() == "1000"
    buildah(*container, "python", "/app/tailrace/metadata.py", "upgrade")
    buildah(*container, "python", "/app/tailrace/metadata.py", "administrator", "/run/secrets/superset-admin")
    port = free_port()
    command = configuration(buildah, superset_container)["Cmd"]
    served = [word.replace("0.0.0.0:8088", f"127.0.0.1:{port}") for word in command]
    with listening(port, *buildah.command, *container, *served):
        address = f"http://127.0.0.1:{port}"
        with urllib.request.urlopen(f"{address}/health", timeout=START_SECONDS) as answer:
            assert answer.read() == b"OK"
        with urllib.request.urlopen(f"{address}/login/", timeout=START_SECONDS) as answer:
            # The name that our configuration gives it.
            assert b"Tailrace" in answer.read()
        for page in ("alerts/", "static/any/uPlot.iife.min.js"):  # the first leads to the login
            with urllib.request.urlopen(f"{address}/tailrace/{page}", timeout=START_SECONDS) as answer:
                assert answer.status == 200


def test_our_layers_are_small(buildah, build, base, tools, flink_base, superset, superset_base):
    """Sizes as docker/README.md states them, a tenth more at most."""
    ours = {
        "tools": size(buildah, tools) - size(buildah, base),
        "flink": size(buildah, build("flink", FLINK)) - size(buildah, flink_base),
        "superset": size(buildah, superset) - size(buildah, superset_base),
    }
    print({name: round(of / MEGABYTE) for name, of in ours.items()})
    stated = (DOCKER / "README.md").read_text()
    for name, of in ours.items():
        (row,) = (line for line in stated.splitlines() if line.startswith(f"| `tailrace/{name}` |"))
        megabytes = int(row.split("|")[2].split()[0])
        assert 0.5 * megabytes < of / MEGABYTE < 1.1 * megabytes, name
    assert ours["tools"] / MEGABYTE <= TOOLS_MEGABYTES
