"""Metadata of the packages: one version, and every sub-package is in the wheel."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tailrace.config.resources import PYTHON_PATH, REPOSITORY
from tailrace_local.cli import EXTENSION

PROJECTS = {
    "tailrace": PYTHON_PATH / "pyproject.toml",
    "tailrace_local": PYTHON_PATH / "tailrace_local/pyproject.toml",
}


@pytest.mark.parametrize("name", PROJECTS)
def test_the_version_is_that_of_the_package_tailrace(name):
    project = tomllib.loads(PROJECTS[name].read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "tailrace.__version__"}
    assert (PYTHON_PATH / name / "py.typed").exists()


@pytest.mark.parametrize(
    ("directory", "name"),
    [(PYTHON_PATH, "tailrace"), (REPOSITORY / "collectors/capture", "tailrace_capture")],
)
def test_a_wheel_contains_every_sub_package(directory, name):
    project = tomllib.loads((directory / "pyproject.toml").read_text())
    included = project["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = {
        ".".join(file.parent.relative_to(directory).parts)
        for file in (directory / name).rglob("__init__.py")
        if "build" not in file.parts
    }
    assert len(packages) > 2
    assert {package for package in packages if any(fnmatch(package, glob) for glob in included)} == packages


@pytest.mark.parametrize(
    ("collector", "modules", "command"),
    [
        ("pull", {"tailrace_pull"}, {"tailrace-pull": "tailrace_pull.__main__:main"}),
        ("census", {"tailrace_signing", "census"}, {"tailrace-census": "census:main"}),
    ],
)
def test_a_wheel_declares_what_its_modules_import(collector, modules, command):
    directory = REPOSITORY / "collectors" / collector
    project = tomllib.loads((directory / "pyproject.toml").read_text())
    setuptools = project["tool"]["setuptools"]
    assert {*setuptools["packages"], *setuptools.get("py-modules", [])} == modules
    assert project["project"]["scripts"] == command
    listed = project["project"]["dependencies"]
    listed += [
        each for extra in project["project"].get("optional-dependencies", {}).values() for each in extra
    ]
    declared = {each.split("[")[0] for each in listed}
    imported = set(_imported(directory, modules)) - modules - sys.stdlib_module_names
    assert {OTHER_NAMES.get(name, name.replace("_", "-")) for name in imported} == declared


OTHER_NAMES = {
    "google": "protobuf",
    "opentelemetry": "opentelemetry-proto",
    "tailrace_signing": "tailrace-census",
}


def _imported(directory: Path, modules: set[str]) -> Iterator[str]:
    """Yields the first part of the name of each imported module."""
    files = [
        file for name in modules for file in [directory / f"{name}.py", *(directory / name).rglob("*.py")]
    ]
    for node in (each for file in files if file.exists() for each in ast.walk(ast.parse(file.read_text()))):
        if isinstance(node, ast.Import):
            yield from (each.name.split(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def test_the_local_stack_is_complete_and_declares_its_commands():
    project = tomllib.loads(PROJECTS["tailrace_local"].read_text())
    found = {
        ".".join(file.parent.relative_to(PYTHON_PATH).parts)
        for file in (PYTHON_PATH / "tailrace_local").rglob("__init__.py")
        if "build" not in file.parts
    }
    assert set(project["tool"]["setuptools"]["packages"]) == found
    assert project["project"]["entry-points"]["tailrace.commands"] == {
        "local": "tailrace_local.cli:EXTENSION"
    }
    assert EXTENSION.commands


def test_every_directory_of_python_code_is_a_package():
    for name in PROJECTS:
        for file in (PYTHON_PATH / name).rglob("*.py"):
            assert (file.parent / "__init__.py").exists(), file
