"""Every manipulation of a bundle is detected and located, and no honest history raises a false alarm."""

import json
import random

import pytest
import verify_histories as histories
import verify_manipulated_ranges as ranges
import verify_manipulations as manipulations
import verify_stored

from tailrace_verify import chains, check
from tailrace_verify.files import of_mapping
from tailrace_verify.files_of_hosts import RangesOfFiles
from tailrace_verify.findings import Report, Status

MANIPULATED, HONEST = 120, 150
MANIPULATED_LONG, HONEST_LONG = 1000, 10_000
KINDS = (*manipulations.ALL, *ranges.ALL, *verify_stored.OF_THE_LOG, *verify_stored.OF_CLICKHOUSE)
EXPECTED = {
    verify_stored.alert_replaced_by_another_version: (Status.TAMPERED, Status.UNDETERMINED),
    ranges.range_replayed: (Status.PROVEN,),
    manipulations.log_truncated_at_its_source: (Status.PROVEN,),
}
"""The verdicts that are not those of the others. Repeated records and truncated logs are located without a
change of the verdict: collectors send records at least once, and copytruncate truncates logs."""
LARGE = 90
"""Minutes of a history whose log has more than one full tile."""


def verified(bundle: dict[str, bytes], history: histories.History) -> Report:
    report, held = check.examine(of_mapping(bundle), history.trust())
    if verify_stored.ALERTS in bundle:
        verify_stored.compare(bundle, held, report)
    return report


def assert_detected(count: int, first: int) -> None:
    """Manipulates `count` bundles, each kind alternately."""
    done = seed = 0
    while done < count:
        seed += 1
        manipulate = KINDS[seed % len(KINDS)]
        history = histories.made(first + seed)
        bundle = history.bundle()
        if manipulate in verify_stored.OF_CLICKHOUSE:
            bundle |= verify_stored.stored(history)
        if not history.rows or not (place := manipulate(history, bundle, random.Random(f"attack {seed}"))):
            continue
        report = verified(bundle, history)
        message = f"{manipulate.__name__} of history {first + seed} at {place}: {report.findings[:5]}"
        expected = EXPECTED.get(manipulate, (Status.TAMPERED, Status.INCOMPLETE))
        assert report.verdict in expected, message
        assert any(place.items() <= finding.place.items() for finding in report.findings), message
        done += 1


def assert_honest(count: int, first: int) -> None:
    for seed in range(first, first + count):
        history = histories.made(seed)
        report = verified(history.bundle() | verify_stored.stored(history), history)
        assert report.verdict is Status.PROVEN, f"history {seed}: {report.findings[:5]}"
        assert report.counts["leaves"] == len(history.entries)


def test_every_manipulation_is_detected_and_located():
    assert_detected(MANIPULATED, 0)


def test_honest_histories():
    assert_honest(HONEST, 50_000)


def without_a_range() -> tuple[dict[str, bytes], histories.History, dict[str, object], float]:
    """Returns a bundle without one range, its place, and when the next record was signed."""
    for seed in range(1000):
        history = histories.made(seed)
        bundle = history.bundle()
        if place := ranges.range_dropped(history, bundle, random.Random(seed)):
            following = [each for each in records(history) if each["sequence"] == place["sequence"] + 1]
            at = {each["at"] / 1e6 for each in following if each["host"] == place["host"]}
            if min(at) > 1e9:
                return bundle, history, place, min(at)
    raise AssertionError("no history has such a range")


def records(history: histories.History) -> list[dict[str, object]]:
    found = map(json.loads, history.entries)
    return [json.loads(record["payload"]) for each in found for record in histories.records(each)]


@pytest.mark.parametrize(
    ("age", "status", "word"),
    [(10, Status.UNDETERMINED, "not recorded yet"), (-10, Status.INCOMPLETE, "not recorded")],
)
def test_a_running_log_may_still_record_what_was_signed_recently(age, status, word):
    """`age` is the time in seconds from the settled time to the record after the missing one."""
    bundle, history, place, at = without_a_range()
    report, _ = check.examine(of_mapping(bundle), history.trust(), settled=at - age)

    found = [each for each in report.findings if each.check == chains.CHECK]
    holes = [each for each in found if each.status is not Status.PROVEN]
    assert [(each.status, {**each.place} | place == {**each.place}) for each in holes] == [(status, True)]
    assert word in holes[0].message


@pytest.mark.parametrize(("seconds", "is_noted"), [(3600, True), (1, False)])
def test_a_clock_of_a_host_that_went_back_is_located(seconds, is_noted):
    history = histories.made(3)
    host = history.hosts[0]
    at = 1_800_000_000_000_000
    history.entries += [host.sign(at=at), host.sign(at=at - seconds * 1_000_000)]
    history.sizes.append((len(history.entries), history.sizes[-1][1] + 60))
    report = verified(history.bundle(), history)
    assert report.verdict is Status.PROVEN
    place = {"leaf": len(history.entries) - 1, "host": host.name, "sequence": host.sequence}
    messages = [each.message for each in report.findings if place.items() <= each.place.items()]
    assert messages == is_noted * [
        f"the clock of {host.name} went back by 3600 s before record {host.sequence}"
    ]


ROOT = "ab" * 32


@pytest.mark.parametrize(
    "earlier",
    [
        {"earlier_from": 0},
        {"earlier_root": ROOT},
        {"earlier_from": 0, "earlier_root": ROOT[1:]},
        {"earlier_from": 0, "earlier_root": None},
        {"earlier_from": 70_000, "earlier_root": ROOT},
        {"earlier_from": 70_001, "earlier_root": ROOT},
    ],
)
def test_earlier_ranges_need_a_root_and_bytes(earlier):
    def found(**payload: object) -> Report:
        report = Report()
        RangesOfFiles(False, report).add({"host": "db1", "from": 70_000, "to": 80_000, **payload})
        return report

    assert found(earlier_from=0, earlier_root=ROOT).findings == []
    report = found(**earlier)
    assert report.verdict is Status.TAMPERED
    assert [each.message for each in report.findings] == ["no byte range"]


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
