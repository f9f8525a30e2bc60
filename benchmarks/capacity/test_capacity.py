"""The simulation agrees with the closed formula of a queue, and with a measured backlog."""

import pytest

from benchmarks.capacity import figures as all_figures
from benchmarks.capacity.simulation import (
    STEP_SECONDS,
    Failure,
    failures_of,
    first_to_fail,
    rate_of_day,
    simulate,
)
from benchmarks.capacity.sizing import CLICKHOUSE, DAY, DETECT, KAFKA, NORMALIZE, STAGES, TB, cost, plan

FIGURES = all_figures.load()
AMPLE = dict.fromkeys(STAGES, 1e9)
MEASURED_BACKLOG = 199_307
MEASURED_CORES = 2
MEASURED = ((13.3, 28_562), (16.0, 23_886))
"""`make bench-e2e` of 27807bed, Kafka to row on two cores: CPU-seconds of all components and entries a second
of the best and the worst of three runs (docs/BENCHMARKS.md)."""


@pytest.mark.parametrize(
    ("arrivals", "capacity", "outage"), [(100, 200, 600), (150, 200, 600), (100, 110, 300)]
)
def test_a_backlog_drains_as_the_formula_says(arrivals, capacity, outage):
    failure = Failure("all", CLICKHOUSE, 0.0, 1000, outage)
    found = simulate(lambda _: arrivals, {**AMPLE, CLICKHOUSE: capacity}, [failure])
    assert found.largest[NORMALIZE] == pytest.approx(arrivals * outage, rel=0.02)
    assert found.row_lag == pytest.approx(outage, abs=2 * STEP_SECONDS)
    assert found.drained == pytest.approx(arrivals * outage / (capacity - arrivals), rel=0.02)


def test_a_stage_above_its_capacity_never_drains():
    found = simulate(lambda _: 101, {**AMPLE, DETECT: 100})
    assert found.drained is None
    assert found.largest[DETECT] == pytest.approx(DAY, rel=0.01)
    assert found.row_lag == 0


def test_a_backlog_of_this_machine_drains_as_measured():
    """From the CPU-seconds of a run follows its elapsed time, within a tenth."""
    for cpu_seconds, entries_per_second in MEASURED:
        capacity = MEASURED_CORES * MEASURED_BACKLOG / cpu_seconds
        scale = 1000  # so that the drain takes many steps
        found = simulate(
            lambda _: 0, {**AMPLE, NORMALIZE: capacity / scale}, seconds=DAY, backlog=MEASURED_BACKLOG
        )
        assert found.drained is not None
        assert found.drained / scale == pytest.approx(MEASURED_BACKLOG / entries_per_second, rel=0.1)


def test_a_planned_installation_has_no_backlog_and_survives_each_failure():
    planned = plan(FIGURES, 10 * TB)
    rate = rate_of_day(FIGURES, planned.load)
    assert simulate(rate, dict(planned.capacity)).row_lag == 0
    for failure in failures_of(FIGURES, planned, 14 * 3600, 600):
        found = simulate(rate, dict(planned.capacity), [failure])
        assert found.drained is not None, failure.what
        assert found.row_lag <= 600 + STEP_SECONDS, failure.what


def test_the_fullest_disk_fails_before_the_busiest_stage():
    planned = plan(FIGURES, 10 * TB)
    multiples = dict(first_to_fail(FIGURES, planned))
    assert all(multiples[stage] >= 1 / FIGURES["utilization"] - 0.01 for stage in STAGES)
    assert next(iter(multiples)) == "disk of ClickHouse"
    assert 1 / FIGURES["disk_fill"] * (1 - FIGURES["kept_free"]) <= multiples["disk of ClickHouse"] < 1.4


def test_the_plan_grows_with_the_logs():
    small, large = plan(FIGURES, TB), plan(FIGURES, 10 * TB)
    assert large.load.peak == pytest.approx(10 * small.load.peak)
    for stage in (KAFKA, NORMALIZE, CLICKHOUSE, DETECT):
        assert large.cores[stage] >= small.cores[stage]
    assert cost(FIGURES, large, 10 * TB).cpu_hours == pytest.approx(cost(FIGURES, small, TB).cpu_hours)


def test_each_figure_has_a_class_and_a_source(tmp_path):
    assert {each.kind for each in FIGURES.all.values()} == set(all_figures.CLASSES)
    wrong = tmp_path / "figures.yaml"
    wrong.write_text(all_figures.FILE.read_text().replace("class: measured", "class: guessed", 1))
    with pytest.raises(ValueError, match="class must be one of"):
        all_figures.load(wrong)
