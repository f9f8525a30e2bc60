"""What Superset's image is given is enough for the work pages: the same files, with Superset's own Python."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from docker.tests.conftest import DOCKER, ToOutput
from docker.tests.test_images import ignored
from tailrace.config.resources import REPOSITORY
from tailrace_local.components import superset

DOCKERFILE = (DOCKER / "superset" / "Dockerfile").read_text()
TARGET = "/app/tailrace"
PROGRAM = """
import importlib, pathlib, re
import jinja2
import tailrace_audited_connection, tailrace_home, tailrace_rate_limit, tailrace_capture
import tailrace_chart_labels, tailrace_data_cache, tailrace_error_pages, tailrace_page_head
import tailrace_static_files, tailrace_superset_patches, tailrace_table_search, tailrace_time_ranges
from tailrace.config import resources
from tailrace.evidence import framework
from tailrace_pages import queries, registration, rendering, static_files
from tailrace_pages.evidence import rows

here = pathlib.Path(registration.__file__).parent
assert resources.IS_PACKAGED
for name in registration.PAGES:
    importlib.import_module(name)
for name in framework.names():
    for result in framework.load(name).results.values():
        queries.text_of(rows.page_of(result)), queries.text_of(rows.count_of(result))
named = {name for file in here.rglob("*.py") for name in re.findall(r'"(page_[a-z_]+)"', file.read_text())}
for name in sorted(named):
    queries.text_of(name)
templates = [*(here / "templates").rglob("*.html")]
for file in templates:
    rendering._environment.get_template(str(file.relative_to(here / "templates")))
used = {name for file in templates for name in re.findall(r"asset\\('([^']+)'\\)", file.read_text())}
for name in used:
    static_files.read(name)
print(len(framework.names()), len(named), len(templates), len(used))
"""
"""Reads everything that the pages read from files, and prints how many of each there were."""


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Path:
    """TARGET as the image has it."""
    root = tmp_path_factory.mktemp("superset") / "tailrace"
    for line in re.sub(r" \\\n +", " ", DOCKERFILE).splitlines():
        if line.startswith("COPY ") and TARGET in line:
            *sources, target = line.split()[1:]
            for source in sources:
                _copy(
                    REPOSITORY / source, root / target.removeprefix(TARGET).strip("/"), target.endswith("/")
                )
    return root


def _copy(source: Path, target: Path, is_directory: bool) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=ignored)
    else:
        target.mkdir(parents=True, exist_ok=True)
        assert is_directory
        shutil.copy(source, target)


def test_the_pages_find_all_their_files(image, settings, home):
    component = superset.Superset(settings, home)
    if not component.installed():
        component.install(ToOutput())
    done = subprocess.run(
        [component.python(), "-c", PROGRAM],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(image), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=image,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    frameworks, queries, templates, used = map(int, done.stdout.split())
    assert (frameworks, templates) == (5, len([*_pages().rglob("*.html")]))
    assert queries > 20 and used > 3


def test_no_tests_are_in_the_image(image):
    names = {path.name for path in image.rglob("*")}
    assert "evidence" in names and "results.yaml" in names
    assert not names & {"tests", "__pycache__", "node_modules"}


def _pages() -> Path:
    return REPOSITORY / "embedded/superset/tailrace_pages/templates"
