"""What the images are given is enough for what they run: the same files, in a directory of their own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docker.tests.conftest import DOCKER
from tailrace.config.resources import REPOSITORY

DOCKERFILE = (DOCKER / "Dockerfile").read_text()
SUPERSET_DOCKERFILE = (DOCKER / "superset" / "Dockerfile").read_text()


def copied_to(stage: str) -> list[str]:
    """The paths that a stage copies from the repository to the directory of the same name."""
    (text,) = re.findall(rf"^FROM \S+ AS {stage}$(.*?)(?=^FROM |\Z)", DOCKERFILE, re.MULTILINE | re.DOTALL)
    return [
        source for source, target in re.findall(r"^COPY (\S+) (\S+)$", text, re.MULTILINE) if source == target
    ]


def ignored(directory: str, names: list[str]) -> set[str]:
    """As .dockerignore says it; its patterns are names at the top, or below anything."""
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    found = set()
    for name in names:
        path = (Path(directory) / name).relative_to(REPOSITORY)
        for pattern in patterns:
            anywhere = pattern.removeprefix("**/")
            if path.match(anywhere) if anywhere != pattern else str(path) == pattern:
                found.add(name)
    return found


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Path:
    """The repository as it is in the tools' image."""
    root = tmp_path_factory.mktemp("image") / "tailrace"
    for name in copied_to("tools"):
        shutil.copytree(REPOSITORY / name, root / name, ignore=ignored)
    return root


def run(image: Path, *words: str, **environment: str) -> str:
    """Standard output of a module of the image. Fails if it does."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "TAILRACE_CACHE") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", *words],
        env={
            **inherited,
            "PYTHONPATH": str(image / "embedded"),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
        cwd=image,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_stages_copy_what_they_need():
    assert set(copied_to("jars")) == {"schemas", "stream-jobs", "samples", "embedded"}
    production = {"schemas", "samples", "rules", "sql", "dashboards", "collectors"}
    production |= {"embedded/tailrace", "embedded/tailrace_verify"}
    assert set(copied_to("tools")) == production


def test_no_tests_and_nothing_built_is_in_the_image(image):
    directories = {path.name for path in image.rglob("*") if path.is_dir()}
    assert {"programs", "migrations", "capture"} <= directories
    assert not directories & {"tests", "test", "target", "node_modules", "__pycache__", ".git"}


@pytest.mark.parametrize("module", ["tailrace", "tailrace.deployment", "tailrace.facts", "tailrace.delivery"])
def test_modules_load(image, module):
    assert "usage:" in run(image, module, "--help").lower()


def test_the_collector_is_configured_from_the_image_alone(image, tmp_path):
    run(image, "tailrace.deployment", "collector", TAILRACE_HOME=str(tmp_path))
    included = (tmp_path / "data/fluentbit/configuration/tailrace.conf").read_text().split()[1::2]
    assert included
    assert all(Path(file).is_relative_to(image / "collectors") for file in included)


def test_the_image_finds_the_jars_that_were_built_before(image, tmp_path):
    """By the link that the build leaves for a checkout in the same directory: WORKDIR of both stages."""
    assert DOCKERFILE.count("WORKDIR /opt/tailrace\n") == 2
    built = tmp_path / "jobs" / "built"
    built.mkdir(parents=True)
    program = (
        "from tailrace.config.command_line_jar import installed, last_build\n"
        "from tailrace.config.settings import Settings\n"
        f"last_build(Settings.from_environment()).symlink_to({str(built)!r})\n"
        "print(installed(Settings.from_environment()))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(image / "embedded"), "TAILRACE_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == str(built / "cli.jar")


def test_the_image_has_only_the_production_package(image):
    names = {path.name for path in (image / "embedded").iterdir()}
    assert names == {"tailrace", "tailrace_verify"}


@pytest.mark.parametrize("dockerfile", [DOCKERFILE, SUPERSET_DOCKERFILE])
def test_what_is_copied_is_there(dockerfile):
    copied = re.findall(r"^COPY (?!--from)(?:--\S+ )*((?:\S+ )+)", dockerfile, re.MULTILINE)
    for path in " ".join(copied).split():
        assert (REPOSITORY / path).exists(), path


def test_the_image_of_superset_has_each_module_of_its_configuration():
    modules = {file.stem for file in (REPOSITORY / "embedded/superset").glob("tailrace_*.py")}
    config = (REPOSITORY / "embedded/superset/superset_config.py").read_text()
    imported = modules & set(re.findall(r"^(?:import|from) (\w+)", config, re.MULTILINE))
    copied = set(re.findall(r"embedded/superset/(\w+)\.py", SUPERSET_DOCKERFILE))
    assert imported
    assert imported <= copied


@pytest.mark.parametrize("dockerfile", [DOCKERFILE, SUPERSET_DOCKERFILE])
def test_images_end_as_a_user_that_is_not_root(dockerfile):
    for stage in re.split(r"^FROM ", dockerfile, flags=re.MULTILINE)[1:]:
        users = re.findall(r"^USER (\d+)", stage, re.MULTILINE)
        if "CMD" in stage or users:
            assert users[-1] != "0"
