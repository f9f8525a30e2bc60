"""The chart's suites of helm-unittest, one for each template.

They say what the chart makes of its values, and what switches leave out."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from helm.tests.conftest import CHART

SUITES = sorted(path.name for path in (CHART / "tests").glob("*.yaml"))


def suite(unittest: Path, chart: Path, name: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [unittest, "--strict", "--file", f"tests/{name}", chart], capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def chart(tmp_path_factory) -> Path:
    """A copy: helm-unittest makes a directory for snapshots beside the suites."""
    return Path(shutil.copytree(CHART, tmp_path_factory.mktemp("chart") / "tailrace"))


PROBE = re.compile(r"^( *)(\w+Probe): *(.*(?:\n\1 +.*)*)", re.MULTILINE)
"""A probe in a template, in one line or with the lines of its block."""


def test_no_probe_fails_after_a_second_under_load():
    """Kubernetes' default. A TCP connection needs no time of the process."""
    found = [
        (path.name, name, text)
        for path in (CHART / "templates").iterdir()
        for _, name, text in PROBE.findall(path.read_text())
        if "tcpSocket" not in text and "include" not in text
    ]
    assert len(found) > 10
    assert [each for each in found if not re.search(r"\btimeoutSeconds: [1-9]\d", each[2])] == []


def test_every_template_has_its_suite():
    templates = [*(CHART / "templates").glob("*.yaml"), CHART / "templates/NOTES.txt"]
    assert sorted(f"{path.stem.lower()}_test.yaml" for path in templates) == SUITES


@pytest.mark.parametrize("name", SUITES)
def test_suites_pass(unittest, chart, name):
    done = suite(unittest, chart, name)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 total" in done.stdout


def test_a_suite_fails_on_what_it_does_not_say(unittest, tmp_path):
    changed = Path(shutil.copytree(CHART, tmp_path / "tailrace"))
    template = changed / "templates/services.yaml"
    template.write_text(template.read_text().replace("Recreate", "RollingUpdate"))
    done = suite(unittest, changed, "services_test.yaml")
    assert done.returncode == 1
    assert "run once each, never two at the same time" in done.stdout
