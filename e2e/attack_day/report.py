"""Runs detection over the logs of an attack day, and writes docs/DETECTIONS.md."""

import json
import statistics
import subprocess
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

from e2e.attack_day.verdict import Alert, Verdict, judge, table
from tailrace.config.resources import REPOSITORY

DOCUMENT = REPOSITORY / "docs" / "DETECTIONS.md"
LOGS = ("server_audit.log", "slow.log", "error.log")
HEAD = """\
# What is noticed of a day of attacks

Written by `python -m e2e.attack_day DIRECTORY --seed {seed} --report`; do not edit.

A company of a dozen accounts works for {days} days with a real MariaDB ({version}): a shop, billing, a
nightly mariadb-dump, a monitor, analysts, administrators, releases. Then comes a day on which the same goes
on and {attacks} attacks happen, by PyMySQL, mariadb, mariadb-dump and sqlmap (direct mode). All of it is on
the loopback device of a network namespace; the server's clock is moved from session to session. `tailrace
detect` reads the server's audit, slow and error log as they are, with the rules and detectors of `rules/`
and no filter made for this company. Counted are alerts of all levels but informational.
"""
LEARNING = timedelta(days=28)
"""The longest learning period of rules/detectors.yaml: alerts before are not counted."""


def detect(directory: Path) -> list[Alert]:
    """What `tailrace detect` makes of the server's logs, all three at once. Raises CalledProcessError."""
    done = subprocess.run(
        [REPOSITORY / "bin/tailrace", "detect", "--json", "--rules", REPOSITORY / "rules"]
        + [directory / "logs" / name for name in LOGS],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [Alert.of(json.loads(line)) for line in done.stdout.splitlines()]


def verdict(directory: Path, manifest: dict) -> Verdict:
    return judge(manifest, detect(directory))


def learned_days(manifest: dict, found: Verdict) -> dict[str, int]:
    """Alerts of each ordinary day after the learning period, ISO date → number; a day without any has 0."""
    first = _date(manifest["start"]) + LEARNING
    last = _date(manifest["attack_day"])
    days = (first + timedelta(days=number) for number in range((last - first).days))
    return {day.isoformat(): found.days_before.get(day.isoformat(), 0) for day in days}


def write(directory: Path, manifest: dict) -> None:
    """Writes the document of a verdict."""
    found = verdict(directory, manifest)
    days = learned_days(manifest, found)
    DOCUMENT.write_text("\n".join(_document(directory, manifest, found, days)) + "\n")


def _document(directory: Path, manifest: dict, found: Verdict, days: dict[str, int]) -> Iterator[str]:
    yield HEAD.format(
        seed=manifest["seed"],
        days=(_date(manifest["attack_day"]) - _date(manifest["start"])).days,
        version=_version(directory),
        attacks=len(found.attacks),
    )
    noticed = sum(attack.found for attack in found.attacks)
    yield "| | |"
    yield "|---|---|"
    yield f"| recall: attacks noticed by a rule meant for them | {found.recall:.2f} ({noticed} of them) |"
    yield f"| precision: alerts of the attack day that are about an attack | {found.precision:.2f} |"
    if days:
        median, most = statistics.median(days.values()), max(days.values())
        yield f"| alerts on an ordinary day after learning: median, most | {median:g}, {most} |"
    yield ""
    yield from table(found)


def _date(text: str) -> date:
    return datetime.fromisoformat(text).date()


def _version(directory: Path) -> str:
    log = (directory / "logs" / "error.log").read_text(errors="replace")
    return log.partition("Version: '")[2].partition("'")[0]
