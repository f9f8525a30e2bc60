"""What docker/ means: compose.yaml as Compose itself understands it."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from docker.tests.go_program import built
from docker.tests.install_limit import allow_installation
from tailrace.config import content_hash
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace_local.components.flink import POM
from tailrace_local.supervisor import maven

DOCKER = Path(__file__).parents[1]
SOURCES = Path(__file__).parent / "compose"

Project = dict[str, Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    allow_installation(items, Path(__file__).parent)


@pytest.fixture(scope="session")
def compose_program() -> Path:
    """compose/main.go, which is Compose's own library."""
    return built(SOURCES)


@pytest.fixture(scope="session")
def compose(compose_program: Path) -> Callable[..., Project]:
    """What Compose makes of files of docker/ or a copy, with variables in an otherwise empty environment."""

    def load(*files: str, variables: Mapping[str, str] | None = None, directory: Path = DOCKER) -> Project:
        done = subprocess.run(
            [compose_program, *files],
            cwd=directory,
            env={"PATH": os.environ["PATH"], **(variables or {})},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return load


@pytest.fixture(scope="session")
def project(compose: Callable[..., Project]) -> Project:
    """compose.yaml with every setting at its default."""
    return compose("compose.yaml")


@pytest.fixture(scope="session")
def services(project: Project) -> dict[str, dict[str, Any]]:
    return project["services"]


@pytest.fixture(scope="session")
def flink_libraries() -> Path:
    """The directory of Flink's jars that the embedded stack runs."""
    entry = Settings.from_environment().cache / "flink" / content_hash.fingerprint(POM)
    if not entry.exists():
        maven.copy_dependencies(ToOutput(), POM, entry)
    return entry


class ToOutput:
    """Progress of an installation, where a test shows it if it fails."""

    def report(self, doing: str) -> None:
        print(doing)

    def run(self, command, cwd=None, environment=None) -> None:
        subprocess.run(command, cwd=cwd, env={**os.environ, **(environment or {})}, check=True)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The embedded stack's settings at their defaults, in a home of their own."""
    home = os.environ["HOME"]
    return Settings.from_environment({"HOME": home, "TAILRACE_HOME": str(tmp_path / "home")})


@pytest.fixture
def home(settings: Settings) -> Home:
    return Home(settings.home)
