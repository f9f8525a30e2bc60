"""`make compare` finds a changed row, accepts what is listed, and refuses an entry that accepts nothing."""

import json
from pathlib import Path

import pytest

from e2e.compare import accepted, differences, inputs
from e2e.compare.__main__ import report
from e2e.compare.accepted import AcceptedError, judge
from e2e.compare.differences import WHOLE_FILE, ColumnRules, Difference

COMMIT = "0123456789abcdef"
ROWS = [
    {"id": "a", "rule": {"title": "Old title"}, "tables": ["t", "u"], "seconds": 0.5},
    {"id": "b", "rule": {"title": "Same"}, "tables": [], "seconds": 1.0},
]
NEW_NAMES = {"seconds": "duration", "tables": "tables_read"}


@pytest.fixture
def both(tmp_path: Path) -> tuple[Path, Path]:
    """Two directories with equal rows in another order."""
    for side, rows in (("before", ROWS), ("after", ROWS[::-1])):
        write(tmp_path / side, rows)
        (tmp_path / side / "digest-text").mkdir()
        (tmp_path / side / "digest-text" / "x.txt").write_text("one\ntwo\n")
    return tmp_path / "before", tmp_path / "after"


def write(side: Path, rows: list[dict]) -> None:
    file = side / "detect" / "x.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def found(both: tuple[Path, Path], rules: ColumnRules | None = None) -> list[Difference]:
    compared = differences.compare(*both, rules or ColumnRules())
    return [difference for each in compared for difference in each.differences]


def entries(tmp_path: Path, *listed: dict) -> list[accepted.Entry]:
    file = tmp_path / "accepted.yaml"
    file.write_text(json.dumps([{"base": COMMIT[:7], "reason": "a test", **each} for each in listed]))
    return accepted.accepted(COMMIT, file)


def test_order_and_notation_are_no_difference(both):
    (both[1] / "detect/x.jsonl").write_text(
        '{"seconds":5E-1,"tables":["t","u"],"rule":{"title":"Old title"},"id":"a"}\n'
        + json.dumps(ROWS[1])
        + "\n"
    )
    assert found(both) == []


def test_a_changed_value_is_one_difference_and_fails(both, capsys):
    write(both[1], [{**ROWS[0], "rule": {"title": "New title"}}, ROWS[1]])
    assert found(both) == [Difference("detect/x.jsonl", "rule.title", '"Old title"', '"New title"')]
    assert report(*both, COMMIT) == 1
    assert '+ "New title"' in capsys.readouterr().out


def test_equal_directories_succeed(both):
    assert report(*both, COMMIT) == 0


def test_entries_that_accept_nothing_fail_unless_some_may(both, capsys, monkeypatch, tmp_path):
    unused = entries(tmp_path, {"path": "detect/*", "column": "seconds"})
    monkeypatch.setattr(accepted, "accepted", lambda _commit: unused)
    assert report(*both, COMMIT) == 1
    assert "accepts nothing" in capsys.readouterr().out
    assert report(*both, COMMIT, some_unused=True) == 0


def test_rows_lines_and_files_of_one_version_are_differences(both):
    write(both[1], [*ROWS, ROWS[1]])
    (both[1] / "digest-text/x.txt").write_text("one\n")
    (both[1] / "digest-text/y.txt").write_text("one\n")
    duplicate, line, file = found(both)
    assert (duplicate.column, duplicate.before) == ("", None)
    assert 'id="b"' in duplicate.after
    assert line == Difference("digest-text/x.txt", "", "two", None)
    assert (file.path, file.column, file.before) == ("digest-text/y.txt", WHOLE_FILE, "missing")


def test_rows_with_other_identities_are_not_the_same_row(both):
    write(both[1], [{**ROWS[0], "id": "c"}, ROWS[1]])
    assert [difference.column for difference in found(both)] == ["id"]
    by_id = ColumnRules(identifies=lambda _path, column: column == "id")
    assert [difference.column for difference in found(both, by_id)] == ["", ""]


def test_renamed_columns_are_equal_and_columns_of_a_run_ignored(both, tmp_path):
    write(
        both[1],
        [{NEW_NAMES.get(name, name): value for name, value in row.items()} for row in ROWS],
    )
    write(both[0], [{**row, "read_at": number} for number, row in enumerate(ROWS)])
    file = tmp_path / "columns.yaml"
    listed = {
        "identities": [],
        "of_a_run": [{"path": "detect/*", "column": "read_at", "reason": "a test"}],
        "renamed_tables": [{"base": COMMIT[:7], "from": "old", "to": "new"}],
        "renamed_columns": [
            {"base": COMMIT[:7], "path": "detect/*", "from": old, "to": new} for old, new in NEW_NAMES.items()
        ],
    }
    file.write_text(json.dumps(listed))
    assert found(both, accepted.column_rules(COMMIT, file)) == []
    assert accepted.renamed_tables(COMMIT, file) == {"old": "new"}
    assert found(both, accepted.column_rules("another base", file))


def test_accepted_differences_and_entries_that_accept_nothing(both, tmp_path):
    write(both[1], [{**ROWS[0], "rule": {"title": "New title"}}, ROWS[1]])
    title = {"path": "detect/*", "column": "rule.title", "before": '"Old.*"', "after": '"New.*"'}
    other = {"path": "detect/*", "column": "seconds"}
    narrow = {**title, "after": '"Other"'}
    not_run = {"path": "detect/corpora*", "column": "seconds"}
    judged = judge(found(both), entries(tmp_path, title, other, narrow, not_run), ["detect/x.jsonl"])
    assert (judged.differences, judged.accepted) == ([], 1)
    assert [entry.column for entry in judged.unused] == ["seconds", "rule.title"]


def test_accepted_rows_are_those_of_one_version_only(both, tmp_path):
    (both[1] / "digest-text/x.txt").write_text("one\n2\n")
    (removed, added) = found(both)
    judged = judge(
        [removed, added], entries(tmp_path, {"path": "digest-text/*", "row": "^two$"}), ["digest-text/x.txt"]
    )
    assert (judged.differences, judged.unused) == ([added], [])


@pytest.mark.parametrize(
    ("before", "after", "accepts"),
    [
        ('["a"]', '["a", "new"]', True),
        ('["old", "a"]', '["new", "a"]', True),
        (None, '"new"', True),
        ('["a"]', '["new"]', False),
        ('["a"]', '["a", "new", "other"]', False),
        ('["a", "b"]', '["b", "a"]', False),
        ('["a"]', '["a", "a"]', False),
    ],
)
def test_elements_of_a_list_that_are_neither_removed_nor_added_are_kept(tmp_path, before, after, accepts):
    (entry,) = entries(tmp_path, {"path": "parse/*", "column": "flags", "removed": "old", "added": "new"})
    assert entry.accepts(Difference("parse/x.jsonl", "flags", before, after)) is accepts


def test_without_a_pattern_no_element_may_be_removed(tmp_path):
    (entry,) = entries(tmp_path, {"path": "parse/*", "column": "flags", "added": "new"})
    assert entry.accepts(Difference("parse/x.jsonl", "flags", "[]", '["new"]'))
    assert not entry.accepts(Difference("parse/x.jsonl", "flags", '["old"]', '["new"]'))


def test_groups_of_a_digest_are_compared_by_query_id():
    rules = accepted.column_rules(COMMIT)
    assert rules.identifies("digest/samples.slow.jsonl", "group.query_id")


def test_a_row_of_the_other_version_is_not_accepted(both, tmp_path):
    (both[1] / "digest-text/x.txt").write_text("one\n2\n")
    (removed, added) = found(both)
    (entry,) = entries(tmp_path, {"path": "digest-text/*", "row": ".*", "only": "after"})
    assert entry.accepts(added)
    assert not entry.accepts(removed)


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "a/*"},
        {"path": "a/*", "colum": "x"},
        {"row": "x"},
        {"path": "*", "row": "x"},
        {"path": "a/*", "row": "x", "only": "both"},
        {"path": "a/*", "column": "x", "only": "after"},
    ],
)
def test_wrong_entries_are_refused(tmp_path, wrong):
    with pytest.raises(AcceptedError):
        entries(tmp_path, wrong)


def test_entries_of_other_bases_do_not_apply(tmp_path):
    assert entries(tmp_path, {"base": "fedcba9", "path": "detect/*", "column": "x"}) == []


def test_a_large_input_is_cut_after_a_line(tmp_path):
    file = tmp_path / "log"
    file.write_bytes(b"first\nsecond\nthird")
    assert inputs.beginning(file, 14) == b"first\nsecond\n"
    assert inputs.beginning(file, 18) == b"first\nsecond\nthird"
