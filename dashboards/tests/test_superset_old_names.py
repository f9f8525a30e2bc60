"""Modules and variables of embedded/superset work under their old names, in the Python of Superset."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tailrace.config.resources import PYTHON_PATH, REPOSITORY
from tailrace_local.components.superset import Superset

pytestmark = pytest.mark.browser

MODULES = REPOSITORY / "embedded" / "superset"
NAMES = """
import tailrace_asker, tailrace_audited_connection, tailrace_speed, tailrace_superset_patches
assert tailrace_asker.connection is tailrace_audited_connection.connection
assert tailrace_speed.quicken is tailrace_speed.apply_patches is tailrace_superset_patches.apply_patches
"""
VARIABLES = "from tailrace_audited_connection import _RECORDER; print(sorted(_RECORDER.items()))"
RENAMED = {
    "SUPERSET_WITNESS_URL": "SUPERSET_ACCESS_RECORDER_URL",
    "SUPERSET_WITNESS_PASSWORD_FILE": "SUPERSET_ACCESS_RECORDER_PASSWORD_FILE",
}

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(stack) -> Run:
    """Runs a program in Superset's Python, with the modules on its path."""
    return program_runner(Superset(stack.settings, stack.home).python())


def program_runner(python: Path) -> Run:
    outer = {name: text for name, text in os.environ.items() if not name.startswith("SUPERSET_")}

    def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, "-c", program],
            env={**outer, "PYTHONPATH": f"{MODULES}:{PYTHON_PATH}", **environment},
            capture_output=True,
            text=True,
        )

    return run


def warning(old: str, new: str) -> str:
    return f"{old} is now called {new}; release 0.3.0 removes the old name"


def test_old_modules_are_the_new_ones_and_warn(run):
    done = run(NAMES)

    assert done.returncode == 0, done.stderr
    assert sorted(done.stderr.splitlines()) == [
        warning("tailrace_asker", "tailrace_audited_connection"),
        warning("tailrace_speed", "tailrace_superset_patches"),
    ]


def test_old_variables_have_the_same_effect_and_warn(run):
    old, new = (
        run(VARIABLES, **dict.fromkeys(RENAMED, "x")),
        run(VARIABLES, **dict.fromkeys(RENAMED.values(), "x")),
    )

    assert old.stdout == new.stdout == f"{sorted((name, 'x') for name in RENAMED.values())}\n"
    assert old.stderr.splitlines() == [warning(*names) for names in RENAMED.items()]
    assert not new.stderr


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_variable_beside_the_new_one_is_refused(run, old):
    done = run(VARIABLES, **{old: "x", RENAMED[old]: "x"})

    assert done.returncode == 1
    assert f"{old} is the old name of {RENAMED[old]}, and both are given: remove {old}" in done.stderr
