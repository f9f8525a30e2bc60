"""The patterns of data-classes.yaml as people read them."""

from pathlib import Path

import pytest

from tailrace.rules import data_classes
from tailrace.rules.data_classes import ClassPattern
from tailrace_capture.classes import patterns

CONFIRMED = """
classes:
  pci:
    patterns: ["*.cards", shop.orders.card_*, "shop.`odd.table`"]
    exclude: shop.orders.card_type
    confirmed:
      - {patterns: ["*.cards", shop.orders.card_type], since: 2026-05-04, by: Ann Keller}
      - {patterns: shop.orders.card_*, since: 2026-06-01, by: Ben}
  empty: {}
"""


def test_a_confirmation_belongs_to_its_patterns(tmp_path: Path):
    (tmp_path / "c.yaml").write_text(CONFIRMED)
    found = data_classes.read(tmp_path / "c.yaml")
    assert found == {
        "pci": [
            ClassPattern("*.cards", False, "2026-05-04", "Ann Keller"),
            ClassPattern("shop.orders.card_*", False, "2026-06-01", "Ben"),
            ClassPattern("shop.`odd.table`", False, "", ""),
            ClassPattern("shop.orders.card_type", True, "2026-05-04", "Ann Keller"),
        ],
        "empty": [],
    }
    assert [each.of_whole_tables for each in found["pci"]] == [True, False, True, False]


@pytest.mark.parametrize(
    ("pattern", "databases", "is_of"),
    [
        ("*.cards", [], True),
        ("`*`.*.pan", [], True),
        ("hr.salaries", ["shop"], False),
        ("hr.salaries", ["shop", "HR"], True),
        ("hr_*.people.*", ["hr"], False),
        ("hr_*.people.*", ["hr_old"], True),
        ("`h.r`.salaries", ["hxr", "h"], False),
        ("`h.r`.salaries", ["h.r"], True),
        ("hr.salaries", ["*", ".*", "h?", "hr\n", "hr.salaries", ""], False),
        ("*hr.salaries", ["shop"], False),
        ("", ["shop"], True),
    ],
)
def test_a_pattern_is_of_any_database_or_of_those_that_it_matches(pattern, databases, is_of):
    assert ClassPattern(pattern, False, "", "").is_of(databases) == is_of


@pytest.mark.parametrize(
    "text", ["- a", "classes: [a]", "classes: {a: 7}", "classes: {a: {confirmed: [x]}}", "a: ["]
)
def test_another_file_is_an_error(tmp_path: Path, text: str):
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"c\.yaml: expected data classes"):
        data_classes.read(tmp_path / "c.yaml")


def test_the_classes_of_the_repository_have_all_patterns():
    known = patterns.read(data_classes.FILE)
    found = data_classes.read()
    assert {name: [each.pattern for each in its if not each.excluded] for name, its in found.items()} == (
        known.patterns
    )
    assert {name: [each.pattern for each in its if each.excluded] for name, its in found.items()} == (
        known.excluded
    )
