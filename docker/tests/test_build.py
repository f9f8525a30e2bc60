"""Our images built for real, and what is in them run: by buildah, without a container engine, as root.

In the place of the engines' images stands a Debian made by debootstrap: the layers are ours, what they lie on
is not what users get. Containers are processes in a changed root directory: they see this machine's network,
and nothing limits them.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docker.tests.conftest import DOCKER, ToOutput
from docker.tests.test_steps import running, settings_with_free_ports
from tailrace import jobs, migrations, topics
from tailrace.accounts import password_name
from tailrace.clickhouse import ClickHouse
from tailrace.home import Home
from tailrace.parts.clickhouse import ClickHouse as ClickHousePart
from tailrace.settings import REPOSITORY, Settings

pytestmark = [pytest.mark.long, pytest.mark.timeout(5400)]

AUTHORITIES = Path("/usr/local/share/ca-certificates")
"""Whom this machine trusts besides the usual: who stands between it and the registries, if anybody does."""
BASE = "localhost/tailrace-base"
FLINK_BASE = "localhost/tailrace-flink-base"
TOOLS = "localhost/tailrace-tools"
FLINK = "localhost/tailrace-flink"
MEGABYTE = 1_000_000

Buildah = Callable[..., str]


@pytest.fixture(scope="module")
def buildah() -> Buildah:
    """Runs buildah with images of its own, which stay in the cache. Returns what it printed."""
    assert shutil.which("buildah"), "apt-get install buildah"
    assert os.geteuid() == 0, "building without a container engine needs root"
    store = Settings.from_environment().cache / "images"
    options = ["--root", store / "store", "--runroot", store / "run", "--storage-driver", "overlay"]

    def run(*words: str | Path) -> str:
        done = subprocess.run(
            ["buildah", *options, *words], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=False
        )
        assert done.returncode == 0, words
        return done.stdout

    return run


def exists(buildah: Buildah, image: str) -> bool:
    return bool(buildah("images", "--quiet", "--filter", f"reference={image}").strip())


@pytest.fixture(scope="module")
def base(buildah: Buildah, tmp_path_factory) -> str:
    """Debian with Python: what the tools' image needs of python:3.11-slim."""
    if exists(buildah, BASE):
        return BASE
    assert shutil.which("debootstrap"), "apt-get install debootstrap"
    root = tmp_path_factory.mktemp("debian") / "root"
    packages = "ca-certificates,python3,python3-venv"
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", root], check=True
    )
    for certificate in AUTHORITIES.glob("*.crt"):
        shutil.copy(certificate, root / AUTHORITIES.relative_to("/"))
    subprocess.run(["chroot", root, "update-ca-certificates"], check=True)
    subprocess.run(["chroot", root, "apt-get", "clean"], check=True)
    (root / "etc/pip.conf").write_text("[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n")
    container = buildah("from", "scratch").strip()
    buildah("copy", container, root, "/")
    buildah("commit", "--rm", container, BASE)
    shutil.rmtree(root)
    return BASE


@pytest.fixture(scope="module")
def flink_base(buildah: Buildah, base: str) -> str:
    """What our layers ask of Flink's image: its user and its directory. Flink itself is not in it."""
    if exists(buildah, FLINK_BASE):
        return FLINK_BASE
    container = buildah("from", base).strip()
    for words in (
        ["groupadd", "--gid", "9999", "flink"],
        ["useradd", "--uid", "9999", "--gid", "9999", "flink"],
    ):
        buildah("run", "--isolation", "chroot", container, "--", *words)
    buildah("commit", "--rm", container, FLINK_BASE)
    return FLINK_BASE


@pytest.fixture(scope="module")
def build(buildah: Buildah, base: str, flink_base: str) -> Callable[[str, str], str]:
    """Builds a target of docker/Dockerfile as an image."""

    def built(target: str, image: str) -> str:
        arguments = [f"PYTHON_IMAGE={base}", f"FLINK_IMAGE={flink_base}"]
        options = [word for each in arguments for word in ("--build-arg", each)]
        # Health checks are Docker's own: the format OCI has none.
        buildah(
            *("bud", "--isolation", "chroot", "--layers", "--format", "docker", *options),
            *("--target", target, "--tag", image, "--file", DOCKER / "Dockerfile", "."),
        )
        return image

    return built


@pytest.fixture(scope="module")
def tools(build) -> str:
    return build("tools", TOOLS)


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


def configuration(buildah: Buildah, container: str) -> dict:
    """Of an image or container: user, entry point, labels, health check."""
    return json.loads(buildah("inspect", container))["Docker"]["config"]


def size(buildah: Buildah, image: str) -> int:
    """Bytes of an image's files, as they lie in its root directory."""
    container = buildah("from", image).strip()
    root = buildah("mount", container).strip()
    counted = subprocess.run(
        ["du", "--summarize", "--bytes", root], capture_output=True, text=True, check=True
    )
    buildah("rm", container)
    return int(counted.stdout.split()[0])


def test_the_command_line_runs_as_its_user(buildah, container, run):
    assert run("tailrace", "--version") == "tailrace 0.1.0\n"
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
    jar = jobs._entry(Settings.from_environment()).name
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
    ],
)
def test_entry_points_load(run, words):
    assert run(*words, "--help").startswith("usage: ")


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
    part = ClickHousePart(settings, Home(settings.home))
    if not part.installed():
        part.install(ToOutput())
    part.prepare()
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for name in ("admin", "reader_developer"):
        (secrets / password_name(name)).write_text(part.home.secret(password_name(name)))
    with running(part, [str(word) for word in part.command()]):
        step = ("tailrace.deployment", "migrations", "--clickhouse", part.address())
        printed = [run(*step, mounts=(f"{secrets}:/run/secrets:ro",)) for _ in range(2)]
        reader = ClickHouse(
            part.address(), "reader_developer", part.home.secret(password_name("reader_developer"))
        )
        assert reader.execute("SELECT count() FROM tailrace.query_events") == "0\n"
    assert len(printed[0].splitlines()) == len(migrations.load_migrations())
    assert printed[1] == ""


def test_what_is_in_the_image_is_what_is_needed(buildah, container):
    root = Path(buildah("mount", container).strip())
    assert not list((root / "var/cache/apt").glob("archives/*.deb"))
    assert not (root / "opt/venv/bin/pip").exists()
    assert len(topics.load()) == (root / "opt/tailrace/schemas/topics.yaml").read_text().count("- name:")


def test_images_are_described(buildah, tools):
    given = configuration(buildah, tools)
    labels = {
        name.rpartition(".")[2] for name in given["Labels"] if name.startswith("org.opencontainers.image")
    }
    assert labels >= {"title", "description", "version"}
    assert given["Healthcheck"]["Test"] == ["CMD", "python", "-m", "tailrace", "--version"]


def test_our_layers_are_small(buildah, build, base, tools, flink_base):
    """Sizes as docker/README.md states them, a tenth more at most."""
    ours = {
        "tools": size(buildah, tools) - size(buildah, base),
        "flink": size(buildah, build("flink", FLINK)) - size(buildah, flink_base),
    }
    print({name: round(of / MEGABYTE) for name, of in ours.items()})
    stated = (DOCKER / "README.md").read_text()
    for name, of in ours.items():
        (row,) = (line for line in stated.splitlines() if line.startswith(f"| `tailrace/{name}` |"))
        megabytes = int(row.split("|")[2].split()[0])
        assert 0.5 * megabytes < of / MEGABYTE < 1.1 * megabytes, name
