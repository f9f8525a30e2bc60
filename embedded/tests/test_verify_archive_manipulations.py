"""Every manipulation of an archive is detected and located, and no honest archive raises a false alarm.

An auditor who has proven the archive before finds the same.
"""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import verify_archives as archives
from verify_archives import Archive

from tailrace_verify import archive, command
from tailrace_verify.findings import Report, Status
from tailrace_verify.proven_days import ProvenDays

MANIPULATED, HONEST = 18, 12
MANIPULATED_LONG, HONEST_LONG = 1000, 2000


def verified(
    made: Archive, seen: bytes = b"", has_period: bool = False, proven: ProvenDays | None = None
) -> Report:
    trust = replace(made.trust, seen=(seen,) if seen else ())
    return archive.verify(made.root, trust, made.period if has_period else None, proven)


def proven_days(made: Archive) -> ProvenDays:
    """Returns what an auditor keeps who verified the archive before."""
    file = made.root.with_name("proven")
    file.unlink(missing_ok=True)
    proven = ProvenDays(file)
    verified(made, proven=proven)
    proven.write()
    return ProvenDays(file)


def assert_detected(count: int, first: int, root: Path) -> None:
    """Manipulates `count` archives, each kind alternately."""
    done = seed = 0
    while done < count:
        seed += 1
        manipulate = archives.ALL[seed % len(archives.ALL)]
        source = random.Random(f"attack {seed}")
        made = archives.made(first + seed, root)
        newest, proven = made.newest_checkpoint(), proven_days(made)
        if not (place := manipulate(made, source)):
            continue
        is_newest = manipulate is archives.newest_days_deleted
        has_period = is_newest and (source.random() < 0.5 or not archives.is_much_older(made, newest))
        seen = newest if is_newest and not has_period else b""
        report, again = verified(made, seen, has_period), verified(made, seen, has_period, proven)
        message = f"{manipulate.__name__} of archive {first + seed} at {place}: {report.findings[:5]}"
        expected = (Status.TAMPERED, Status.INCOMPLETE)
        if is_newest and not has_period:
            expected, place = (Status.UNDETERMINED,), {"leaf": report.about["leaves"]}
        assert report.verdict in expected, message
        assert any(place.items() <= finding.place.items() for finding in report.findings), message
        assert (again.verdict, again.findings) == (report.verdict, report.findings), message
        done += 1


def assert_honest(count: int, first: int, root: Path) -> None:
    for seed in range(first, first + count):
        made = archives.made(seed, root)
        for report in (verified(made), verified(made, made.newest_checkpoint(), has_period=True)):
            assert (report.verdict, report.findings) == (Status.PROVEN, []), f"archive {seed}"
            assert report.counts["rows"] == sum(made.days.values()), f"archive {seed}"
        again = verified(made, proven=proven_days(made))
        assert (again.verdict, again.findings) == (Status.PROVEN, []), f"archive {seed}"
        assert (
            again.counts["rows that you have proven before"]
            == again.counts["rows"]
            == sum(made.days.values())
        )


def test_every_manipulation_is_detected_and_located(tmp_path):
    assert_detected(MANIPULATED, 0, tmp_path / "archive")


def test_honest_archives(tmp_path):
    assert_honest(HONEST, 50_000, tmp_path / "archive")


def test_the_command_keeps_proven_days(tmp_path, capsys):
    made, kept = archives.made(3, tmp_path / "archive"), tmp_path / "kept"
    (tmp_path / "log.vkey").write_text(made.trust.log.vkey())
    (tmp_path / "w1.vkey").write_text(made.trust.witnesses[0].vkey())
    (tmp_path / "hosts.json").write_text("{}")
    keys = [f"--{name}-key={tmp_path / file}" for name, file in (("log", "log.vkey"), ("witness", "w1.vkey"))]
    words = [str(made.root), *keys, f"--host-keys={tmp_path / 'hosts.json'}", f"--proven-days={kept}"]
    shown = []
    for _ in range(2):
        assert command.main([*words, "--output=json"]) == Status.PROVEN
        shown.append(json.loads(capsys.readouterr().out))
    assert shown[1]["verified"] == shown[0]["verified"]
    (note,) = {*shown[1]["notes"]} - {*shown[0]["notes"]}
    assert note.startswith(f"{sum(made.days.values())} rows are of days that you have proven before")
    kept.write_text("no digest\n")
    assert command.main(words) == Status.UNDETERMINED
    assert "expected 64 hexadecimal digits in line 1" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_thousand_manipulations(tmp_path):
    assert_detected(MANIPULATED_LONG, 100_000, tmp_path / "archive")


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_two_thousand_honest_archives(tmp_path):
    assert_honest(HONEST_LONG, 200_000, tmp_path / "archive")
