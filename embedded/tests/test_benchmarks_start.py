"""CI imports benchmarks and other programs that it does not run, to detect missing names."""

import importlib

import pytest

PROGRAMS = (
    "benchmarks.peers.bench",
    "dashboards.bench.__main__",
    "dashboards.bench.pages",
    "dashboards.pictures",
    "e2e.attack_day.report",
    "e2e.bench",
    "e2e.bench_alerts",
    "e2e.chaos",
    "e2e.sample_errors",
    "e2e.sample_intrusion",
    "e2e.sample_snapshots",
    "e2e.sample_shop",
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_can_be_imported(program):
    importlib.import_module(program)


def test_the_benchmark_of_pages_names_each_query_of_an_entity():
    pages = importlib.import_module("dashboards.bench.pages")
    assert {"page_entity_timeline", "page_entity_coverage"} <= set(pages._names().values())
