"""Metadata of the packages: one version, and every sub-package is in the wheel."""

import tomllib
from fnmatch import fnmatch

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
