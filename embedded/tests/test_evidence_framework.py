"""Frameworks, their queries and docs/COMPLIANCE.md agree."""

import pytest
import yaml

from tailrace.clickhouse.query_files import QUERIES
from tailrace.config.resources import REPOSITORY
from tailrace.evidence import framework

COMPLIANCE = (REPOSITORY / "docs" / "COMPLIANCE.md").read_text()


@pytest.mark.parametrize("name", framework.names())
def test_every_result_serves_a_requirement_or_the_coverage(name):
    known = framework.load(name)
    used = {*known.coverage, *(result for needed in known.requirements for result in needed.results)}
    assert used == known.results.keys()
    assert {"servers", "coverage", "gaps"} <= set(known.coverage)


@pytest.mark.parametrize("name", framework.names())
def test_every_requirement_states_its_limits(name):
    known = framework.load(name)
    assert known.title and known.not_covered
    assert len({requirement.id for requirement in known.requirements}) == len(known.requirements)
    for requirement in known.requirements:
        assert requirement.id and requirement.asks and requirement.results, requirement.id
        assert requirement.shows and requirement.cannot_show, requirement.id


@pytest.mark.parametrize("name", framework.names())
def test_every_query_exists_and_has_its_parameters(name):
    known = framework.load(name)
    for result in known.results.values():
        assert result.file.exists(), result.name
        needs_class = "{class:String}" in result.statement()
        assert not needs_class or known.parameters["class"], result.name
        assert "{class}" not in result.title + result.empty


def test_every_query_is_used():
    asked = {result.file for name in framework.names() for result in framework.load(name).results.values()}
    assert asked == set(QUERIES.glob("evidence_*.sql"))


def test_every_class_of_a_framework_is_defined():
    classes = yaml.safe_load((REPOSITORY / "rules" / "data-classes.yaml").read_text())["classes"]
    used = {framework.load(name).parameters.get("class") for name in framework.names()} - {None}
    assert used <= classes.keys()


def test_an_unknown_result_is_named():
    with pytest.raises(ValueError, match="does not define the result unlisted"):
        framework._results({"servers", "unlisted"}, {})


@pytest.mark.parametrize("name", framework.names())
def test_the_documentation_lists_each_requirement(name):
    assert [each.id for each in framework.load(name).requirements if f"| {each.id} " not in COMPLIANCE] == []


def test_the_documentation_lists_each_file():
    files = {result for name in framework.names() for result in framework.load(name).results}
    assert sorted(name for name in files if f"`{name}`" not in COMPLIANCE) == []
