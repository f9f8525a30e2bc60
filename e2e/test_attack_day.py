"""A day of attacks by real clients within weeks of ordinary work on a real MariaDB: all of it is noticed."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.attack_day import report
from tailrace.config.resources import REPOSITORY

SEED = 11
"""Not that of docs/DETECTIONS.md: rules must not be made for one day only."""
DAYS = 50
LIMIT_SECONDS = 600
MAX_ALERTS_A_DAY = 10
MIN_PRECISION = 0.9

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("apt-get") or not shutil.which("unshare"),
    reason="unpacking MariaDB and a network namespace of its own need root on Debian",
)


@pytest.fixture(scope="module")
def lived(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("attack-day") / "server"
    subprocess.run(
        [sys.executable, "-m", "e2e.attack_day", directory, "--seed", str(SEED), "--days", str(DAYS)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": f"{REPOSITORY / 'embedded'}:{REPOSITORY}"},
        check=True,
        timeout=LIMIT_SECONDS,
    )
    return directory


@pytest.mark.timeout(LIMIT_SECONDS * 2)
def test_every_attack_is_noticed_and_ordinary_days_are_quiet(lived):
    manifest = json.loads((lived / "manifest.json").read_text())
    found = report.verdict(lived, manifest)

    assert [attack.attack["name"] for attack in found.attacks if not attack.found] == []
    assert found.precision >= MIN_PRECISION, found.others
    days = report.learned_days(manifest, found)
    assert statistics.median(days.values()) <= MAX_ALERTS_A_DAY, days
    assert max(days.values()) <= MAX_ALERTS_A_DAY, days
