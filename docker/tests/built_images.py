"""Our images and the bases that they are built on here: by buildah, without a container engine, as root.

A Debian made by debootstrap replaces the official base images. Users get the same layers on other bases.
"""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from docker.tests.conftest import DOCKER, ToOutput
from tailrace.config import content_hash
from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import Settings
from tailrace_local.components.fluentbit import FluentBit
from tailrace_local.supervisor import maven

AUTHORITIES = Path("/usr/local/share/ca-certificates")
"""Certificates that this machine trusts in addition, such as that of a proxy in front of the registries."""
BASE = "localhost/tailrace-base"
FLINK_BASE = "localhost/tailrace-flink-base"
TOOLS = "localhost/tailrace-tools"
TOOLS_WITH_PIP = "localhost/tailrace-tools-with-pip"
ARCHIVE = "localhost/tailrace-archive"
FLINK = "localhost/tailrace-flink"
SUPERSET_BASE = "localhost/tailrace-superset-base"
SUPERSET = "localhost/tailrace-superset"
DRIVERS = "clickhouse-connect|confluent-kafka|backports-zstd|lz4"
"""Packages that docker/superset/Dockerfile takes from the lock file of the embedded stack."""
FLINK_SOURCES = Path(__file__).parent / "flink"
FLINK_FILES = ("pom.xml", "docker-entrypoint.sh", "log4j-console.properties")
FLINK_RUNTIME_BASE = "localhost/tailrace-flink-runtime-base"
"""With the fingerprint of these files at the end: images stay in the cache when the files change."""
FLINK_RUNTIME = "localhost/tailrace-flink-runtime"
FLUENT_BIT = "localhost/tailrace-fluent-bit"
"""With its version at the end."""
FLUENT_BIT_LIBRARIES = ("libonig5", "libsasl2-2", "libsqlite3-0", "libssl3", "libstdc++6", "libyaml-0-2")
KEPT_BYTES = 6_000_000_000
"""Images that stay for the next run: a build takes a minute with their layers, and ten without."""


@dataclass(frozen=True)
class Buildah:
    """Runs buildah with images of its own, which stay in the cache. Returns what it printed."""

    command: tuple[str | Path, ...]

    def __call__(self, *words: str | Path) -> str:
        done = subprocess.run(
            [*self.command, *words], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=False
        )
        assert done.returncode == 0, words
        return done.stdout


@contextmanager
def images_in(directory: Path) -> Iterator[Buildah]:
    """Buildah with its images in a directory. Images stay for the next run, containers do not.

    A second run waits, because the first one removes all containers at its end.
    """
    directory.mkdir(parents=True, exist_ok=True)
    options = ("--root", directory / "store", "--runroot", directory / "run", "--storage-driver", "overlay")
    buildah = Buildah(("buildah", *options))
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield buildah
        finally:
            buildah("rm", "--all")
            if disk_usage(directory / "store") > KEPT_BYTES:
                buildah("rmi", "--prune")  # layers that no named image has: of older builds, of stages


@pytest.fixture(scope="module")
def buildah() -> Iterator[Buildah]:
    assert shutil.which("buildah"), "apt-get install buildah"
    assert os.geteuid() == 0, "building without a container engine needs root"
    with images_in(Settings.from_environment().cache / "images") as run:
        yield run


def disk_usage(directory: Path) -> int:
    """Bytes of its files."""
    counted = subprocess.run(
        ["du", "--summarize", "--bytes", directory], capture_output=True, text=True, check=True
    )
    return int(counted.stdout.split()[0])


def exists(buildah: Buildah, image: str) -> bool:
    return bool(buildah("images", "--quiet", "--filter", f"reference={image}").strip())


@pytest.fixture(scope="module")
def base(buildah: Buildah, tmp_path_factory) -> str:
    """Debian with Python, which replaces python:3.11-slim."""
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
    # A TMPDIR of this machine is no directory there.
    inside = {**os.environ, "TMPDIR": "/tmp"}
    subprocess.run(["chroot", root, "update-ca-certificates"], check=True, env=inside)
    subprocess.run(["chroot", root, "apt-get", "clean"], check=True, env=inside)
    (root / "etc/pip.conf").write_text("[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n")
    container = buildah("from", "scratch").strip()
    buildah("copy", container, root, "/")
    buildah("commit", "--rm", container, BASE)
    shutil.rmtree(root)
    return BASE


@pytest.fixture(scope="module")
def flink_base(buildah: Buildah, base: str) -> str:
    """Flink's user without Flink: our layers need no more of the official image."""
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
def superset_base(buildah: Buildah, base: str) -> str:
    """The parts of Superset's image that our layers need: Superset in /app/.venv, uv, its user."""
    if exists(buildah, SUPERSET_BASE):
        return SUPERSET_BASE
    container = buildah("from", base).strip()
    locks = REPOSITORY / "embedded/superset"
    downloads = Path(os.environ.get("UV_CACHE_DIR", Path.home() / ".cache/uv"))
    downloads.mkdir(parents=True, exist_ok=True)
    script = f"""
        python3 -m venv /opt/uv
        /opt/uv/bin/pip install --no-cache-dir --require-hashes -r /locks/installer.lock
        ln -s /opt/uv/bin/uv /usr/local/bin/uv
        awk '/^[a-z]/ {{taken = !/^({DRIVERS})==/}} taken' /locks/requirements.lock > /tmp/superset.lock
        python3 -m venv --without-pip /app/.venv
        uv pip install --python /app/.venv/bin/python --require-hashes --no-deps -r /tmp/superset.lock
        cd /app && ln -s .venv/lib/python3.*/site-packages/superset superset
        groupadd --gid 1000 superset && useradd --uid 1000 --gid 1000 superset
    """
    # Where somebody stands between this machine and the registries, uv must trust him as pip does.
    buildah("config", "--env", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt", container)
    mounts = ("--volume", f"{locks}:/locks:ro", "--volume", f"{downloads}:/root/.cache/uv")
    buildah("run", "--isolation", "chroot", *mounts, container, "--", "sh", "-euxc", script)
    path = "/app/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    buildah("config", "--env", f"PATH={path}", "--workingdir", "/app", container)
    buildah("commit", "--rm", container, SUPERSET_BASE)
    return SUPERSET_BASE


@pytest.fixture(scope="module")
def bud(buildah: Buildah) -> Callable[..., str]:
    """Builds a Dockerfile as an image, with arguments NAME=value."""

    def built(dockerfile: Path, image: str, *options: str, **arguments: str) -> str:
        given = [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
        # Health checks are Docker's own: the format OCI has none.
        buildah(
            *("bud", "--isolation", "chroot", "--layers", "--format", "docker", *given, *options),
            *("--tag", image, "--file", dockerfile, "."),
        )
        return image

    return built


@pytest.fixture(scope="module")
def build(bud, base: str, flink_base: str) -> Callable[[str, str], str]:
    """Builds a target of docker/Dockerfile as an image."""

    def built(target: str, image: str) -> str:
        bases = {"PYTHON_IMAGE": base, "FLINK_IMAGE": flink_base}
        return bud(DOCKER / "Dockerfile", image, "--target", target, **bases)

    return built


@pytest.fixture(scope="module")
def superset(bud, superset_base: str) -> str:
    return bud(DOCKER / "superset/Dockerfile", SUPERSET, SUPERSET_IMAGE=superset_base)


@pytest.fixture(scope="module")
def tools(build) -> str:
    return build("tools", TOOLS)


@pytest.fixture(scope="module")
def archive(bud, buildah: Buildah, tools: str, tmp_path_factory) -> str:
    """The tools with the packages of the archive, by the lines of docker/own-archive.yaml."""
    container = buildah("from", tools).strip()
    script = "python3 -m venv /opt/pip && ln -s /opt/pip/bin/pip /usr/local/bin/pip"  # as the official base
    command = ("env", "PATH=/usr/bin:/bin", "sh", "-euc", script)
    buildah("run", "--isolation", "chroot", "--user", "0", container, "--", *command)
    buildah("commit", "--rm", container, TOOLS_WITH_PIP)
    own = yaml.safe_load((DOCKER / "own-archive.yaml").read_text())["services"]["archive"]
    first, *lines = own["build"]["dockerfile_inline"].splitlines()
    assert first.startswith("FROM tailrace/tools:")
    dockerfile = tmp_path_factory.mktemp("archive") / "Dockerfile"
    dockerfile.write_text("\n".join([f"FROM {TOOLS_WITH_PIP}", *lines, ""]))
    return bud(dockerfile, ARCHIVE)


def configuration(buildah: Buildah, container: str) -> dict:
    """Of an image or container: user, entry point, labels, health check."""
    return json.loads(buildah("inspect", container))["Docker"]["config"]


@pytest.fixture(scope="module")
def flink_runtime_base(buildah: Buildah, flink_base: str, flink_libraries: Path, tmp_path_factory) -> str:
    """A Flink that runs: Debian's Java, Flink's jars from Maven Central, an entry point of ours."""
    sources = [FLINK_SOURCES / name for name in FLINK_FILES]
    image = f"{FLINK_RUNTIME_BASE}-{content_hash.fingerprint(*sources)}"
    if exists(buildah, image):
        return image
    libraries = tmp_path_factory.mktemp("flink") / "lib"
    shutil.copytree(flink_libraries, libraries)
    pom = FLINK_SOURCES / "pom.xml"
    entry = Settings.from_environment().cache / "flink-container" / content_hash.fingerprint(pom)
    if not entry.exists():
        maven.copy_dependencies(ToOutput(), pom, entry)
    for jar in entry.glob("*.jar"):
        shutil.copy(jar, libraries)
    container = buildah("from", flink_base).strip()
    install(buildah, container, "openjdk-17-jre-headless")
    buildah("copy", container, libraries, "/opt/flink/lib")
    buildah("copy", container, FLINK_SOURCES / "docker-entrypoint.sh", "/docker-entrypoint.sh")
    logging = "log4j-console.properties"
    buildah("copy", container, FLINK_SOURCES / logging, f"/opt/flink/conf/{logging}")
    buildah("config", "--entrypoint", '["/docker-entrypoint.sh"]', container)
    buildah("commit", "--rm", container, image)
    return image


@pytest.fixture(scope="module")
def flink_runtime(bud, base: str, flink_runtime_base: str) -> str:
    """The image of the jobs on a Flink that runs."""
    images = {"PYTHON_IMAGE": base, "FLINK_IMAGE": flink_runtime_base}
    return bud(DOCKER / "Dockerfile", FLINK_RUNTIME, "--target", "flink", **images)


def collector_component() -> FluentBit:
    """The Fluent Bit of this machine: that of TAILRACE_FLUENT_BIT, or our build of 1.8.15."""
    settings = Settings.from_environment()
    return FluentBit(settings, Home(settings.home))


@pytest.fixture(scope="module")
def fluent_bit(buildah: Buildah, base: str) -> str:
    """This machine's Fluent Bit at the path of the official image, which is in no registry of packages."""
    component = collector_component()
    if not component.installed():
        component.install(ToOutput())
    image = f"{FLUENT_BIT}-{component.version()}"
    if exists(buildah, image):
        return image
    container = buildah("from", base).strip()
    install(buildah, container, *FLUENT_BIT_LIBRARIES)
    buildah("copy", container, component.program(), "/fluent-bit/bin/fluent-bit")
    buildah("commit", "--rm", container, image)
    return image


def install(buildah: Buildah, container: str, *packages: str) -> None:
    """Installs packages of Debian in a container."""
    script = "apt-get update && apt-get install --yes --no-install-recommends $0 $@ && apt-get clean"
    buildah("run", "--isolation", "chroot", container, "--", "sh", "-euc", script, *packages)
