"""A day of attacks by real clients on a real MariaDB, after a day of ordinary work, and after weeks of it."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from e2e.attack_day import ordinary_day, report
from e2e.attack_day.verdict import URGENT_LEVELS, Verdict
from tailrace.config.resources import REPOSITORY

SEED = 11
"""Not that of docs/DETECTIONS.md: rules must not be made for one day only."""
WEEKS_DAYS = 50
LIMIT_SECONDS = 2400
MAX_ALERTS_A_DAY = 10
MIN_PRECISION = 0.9

pytestmark = [
    pytest.mark.timeout(LIMIT_SECONDS * 2),
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("apt-get") or not shutil.which("unshare"),
        reason="unpacking MariaDB and a network namespace of its own need root on Debian",
    ),
]


def live(directory: Path, days: int) -> tuple[dict, Verdict]:
    """Plays days of a company with attacks on the last one; returns the manifest and the detected attacks."""
    subprocess.run(
        [sys.executable, "-m", "e2e.attack_day", directory, "--seed", str(SEED), "--days", str(days)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": f"{REPOSITORY / 'embedded'}:{REPOSITORY}"},
        check=True,
        timeout=LIMIT_SECONDS,
    )
    manifest = json.loads((directory / "manifest.json").read_text())
    return manifest, report.verdict(directory, manifest)


def missed(found: Verdict) -> list[str]:
    return [noticed.attack["name"] for noticed in found.attacks if not noticed.found]


def test_every_attack_with_a_rule_is_detected_after_an_ordinary_day(tmp_path):
    """Leaves out attacks that only detectors with a baseline of weeks detect; DetectorsTest has those.

    OrdinaryHabitsTest counts alerts on a recording of the ordinary day, which must be the same day.
    """
    manifest, found = live(tmp_path / "server", days=2)
    detectors = yaml.safe_load((REPOSITORY / "rules" / "detectors.yaml").read_text())
    of_habits = {
        noticed.attack["name"]
        for noticed in found.attacks
        if detectors.keys() >= set(noticed.attack["rules"])
    }

    assert len(found.attacks) - len(of_habits) >= 44
    assert set(missed(found)) <= of_habits
    assert found.precision >= MIN_PRECISION, found.others

    assert [alert for alert in found.before if alert.level in URGENT_LEVELS] == []
    day = ordinary_day.cut(tmp_path / "server", manifest)["server_audit.log"]
    recording = ordinary_day.recorded("server_audit.log")
    assert ordinary_day.done(recording) == ordinary_day.done(day), "record it again (ordinary_day.py)"


@pytest.mark.long
def test_every_attack_is_noticed_and_ordinary_days_are_quiet(tmp_path):
    manifest, found = live(tmp_path / "server", days=WEEKS_DAYS)

    assert missed(found) == []
    assert found.precision >= MIN_PRECISION, found.others
    days = report.learned_days(manifest, found)
    assert statistics.median(days.values()) <= MAX_ALERTS_A_DAY, days
    assert max(days.values()) <= MAX_ALERTS_A_DAY, days
