"""Frameworks, their queries and docs/COMPLIANCE.md agree."""

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace.evidence import framework
from tailrace.evidence.framework import QUERIES

COMPLIANCE = (REPOSITORY / "docs" / "COMPLIANCE.md").read_text()


@pytest.mark.parametrize("name", framework.names())
def test_every_result_serves_a_requirement_or_the_coverage(name):
    known = framework.load(name)
    used = {*known.coverage, *(result for needed in known.requirements for result in needed.results)}
    assert used == known.results.keys()
    assert {"servers", "coverage", "gaps"} <= set(known.coverage)


@pytest.mark.parametrize("name", framework.names())
def test_every_requirement_states_its_limits(name):
    for requirement in framework.load(name).requirements:
        assert requirement.shows and requirement.cannot_show, requirement.id


def test_every_query_is_used():
    asked = {result for name in framework.names() for result in framework.load(name).results}
    assert asked == {path.stem.removeprefix("evidence_") for path in QUERIES.glob("evidence_*.sql")}


def test_the_documentation_lists_each_requirement_and_file():
    known = framework.load("pci")
    assert [each.id for each in known.requirements if f"| {each.id} " not in COMPLIANCE] == []
    assert [name for name in known.results if f"`{name}`" not in COMPLIANCE] == []
