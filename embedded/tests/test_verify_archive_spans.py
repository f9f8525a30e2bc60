"""The proofs of an archive contain the leaves of the log without a gap."""

import json

import pytest

from tailrace_verify import archive_spans
from tailrace_verify.archive_spans import Span
from tailrace_verify.files import of_mapping
from tailrace_verify.findings import Report, Status


def span(first: int, end: int, day: int, continues: bool = True) -> Span:
    return Span(first, end, f"proofs/2026-11-{day}/aa", continues)


DAYS = [span(0, 20, 10), span(18, 40, 11), span(40, 50, 12), span(45, 70, 13)]


@pytest.mark.parametrize(
    ("spans", "leaf"),
    [
        ([], 0),
        ([span(3, 20, 10, continues=False)], 0),
        ([span(3, 20, 10)], 20),
        (DAYS, 70),
        ([DAYS[0], DAYS[2]], 50),
        ([DAYS[0], span(40, 50, 12, continues=False)], 20),
    ],
)
def test_new_proofs_begin_where_the_others_end(spans, leaf):
    assert archive_spans.beginning(spans) == leaf


def found(
    spans: list[Span], verified: list[Span], deleted: tuple[str, ...] = (), is_whole: bool = True
) -> tuple[list, list]:
    def scope(each: Span) -> bytes:
        return json.dumps(
            {"first": each.first, "end": each.end} | ({"after": 0 if each.continues else None})
        ).encode()

    contents = {f"{each.folder}/scope.json": scope(each) for each in spans}
    report = Report()
    folders = {each.folder for each in verified}
    more = list(archive_spans.find_gaps(of_mapping(contents), folders, deleted, is_whole, report))
    return more, [(each.status, each.place["leaf"], each.message[:32]) for each in report.findings]


def test_a_day_that_was_deleted_with_its_proofs_leaves_a_gap():
    assert found(DAYS, DAYS) == ([], [])
    left = [DAYS[0], *DAYS[2:]]
    gap = (20, "the archive lacks 20 leaves of t")
    assert found(left, left) == ([], [(Status.INCOMPLETE, *gap)])
    assert found(left, left, ("2026-11-11",)) == ([], []), "a recorded deletion explains it"
    assert found(left, left, ("2026-11-14",))[1], "one of another day does not"
    older = [DAYS[0], span(40, 50, 12, continues=False), DAYS[3]]
    assert found(older, older) == ([], [(Status.UNDETERMINED, *gap)])


def test_proofs_that_no_day_names_are_verified_before_they_close_a_gap():
    assert found(DAYS, [DAYS[0], *DAYS[2:]]) == ([DAYS[1].folder], [])


def test_the_oldest_days_that_were_deleted_with_their_proofs_leave_a_gap():
    gap = (0, "the archive lacks 40 leaves of t")
    assert found(DAYS[2:], DAYS[2:]) == ([], [(Status.INCOMPLETE, *gap)])
    assert found(DAYS[2:], DAYS[2:], is_whole=False) == ([], []), "the auditor has chosen later days"
    assert found(DAYS[2:], DAYS[2:], ("2026-11-10",)) == ([], []), "a recorded deletion explains it"
    assert found(DAYS, DAYS[2:]) == ([DAYS[0].folder, DAYS[1].folder], [])
    older = [span(3, 20, 10, continues=False)]
    assert found(older, older) == ([], [(Status.UNDETERMINED, 0, "the archive lacks 3 leaves of th")])
