"""Every manipulation of a bundle is detected and located, and no honest history raises a false alarm."""

import random

import pytest
import verify_histories as histories
import verify_manipulations as manipulations

from tailrace_verify import check
from tailrace_verify.files import of_mapping
from tailrace_verify.findings import Report, Status

MANIPULATED, HONEST = 108, 150
MANIPULATED_LONG, HONEST_LONG = 1000, 10_000
HARMLESS = {manipulations.range_replayed: (Status.PROVEN,)}
"""A repeated record is located, and changes no verdict: collectors send records at least once."""
LARGE = 90
"""Minutes of a history whose log has more than one full tile."""


def verified(bundle: dict[str, bytes], history: histories.History) -> Report:
    return check.verify(of_mapping(bundle), history.trust())


def assert_detected(count: int, first: int) -> None:
    """Manipulates `count` bundles, each kind alternately."""
    done = seed = 0
    while done < count:
        seed += 1
        manipulate = manipulations.ALL[seed % len(manipulations.ALL)]
        history = histories.made(first + seed)
        bundle = history.bundle()
        if not history.rows or not (place := manipulate(history, bundle, random.Random(f"attack {seed}"))):
            continue
        report = verified(bundle, history)
        message = f"{manipulate.__name__} of history {first + seed} at {place}: {report.findings[:5]}"
        expected = HARMLESS.get(manipulate, (Status.TAMPERED, Status.INCOMPLETE))
        assert report.verdict in expected, message
        assert any(place.items() <= finding.place.items() for finding in report.findings), message
        done += 1


def assert_honest(count: int, first: int) -> None:
    for seed in range(first, first + count):
        history = histories.made(seed)
        report = verified(history.bundle(), history)
        assert report.verdict is Status.PROVEN, f"history {seed}: {report.findings[:5]}"
        assert report.counts["leaves"] == len(history.entries)


def test_every_manipulation_is_detected_and_located():
    assert_detected(MANIPULATED, 0)


def test_honest_histories():
    assert_honest(HONEST, 50_000)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_thousand_manipulations():
    assert_detected(MANIPULATED_LONG, 100_000)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_ten_thousand_honest_histories():
    assert_honest(HONEST_LONG, 200_000)


@pytest.fixture(scope="module")
def large() -> histories.History:
    return histories.made(7, LARGE)


def test_a_log_of_several_tiles(large):
    bundle = large.bundle()
    assert len(large.entries) > 256
    report = verified(bundle, large)
    assert (report.verdict, report.counts["leaves"]) == (Status.PROVEN, len(large.entries))


def test_a_full_tile_is_compared_with_the_tile_above(large):
    bundle = large.bundle()
    bundle["tile/1/000.p/1"] = bytes(32)
    report = verified(bundle, large)
    assert report.verdict is Status.TAMPERED
    assert {"file": "tile/0/000", "leaf": 0, "leaves": 256} in [finding.place for finding in report.findings]
