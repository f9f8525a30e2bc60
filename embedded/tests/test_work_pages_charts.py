"""Tests the labels of marks (static/marks.js) and the points (chart.js) that a chart draws, in Node.js."""

import json
import subprocess
from typing import Any

import tailrace_pages.static_files as files
from e2e.limits import LIMIT_SECONDS

CASES = {
    "apart": [[10, "web 1"], [200, "web 2"]],
    "near": [[10, "web 1"], [30, "web 2"], [50, "web 3"]],
    "right edge": [[270, "web 1"], [285, "web 2"], [299, "web 3"]],
    "same time": [[100, "web 1"], [101, "plan A"], [103, "plan B"]],
    "many": [[index * 8, f"web {index}"] for index in range(36)],
}
LEFT, RIGHT, SIGN = 0, 300, 8
RUN = f"""
const cases = {json.dumps(CASES)};
const edges = {{ left: {LEFT}, right: {RIGHT}, measure: (label) => {SIGN} * label.length }};
const place = (marks) => placeMarks(marks.map(([x, label]) => ({{ x, label }})), edges);
const placed = Object.entries(cases).map(([name, marks]) => [name, place(marks)]);
console.log(JSON.stringify(Object.fromEntries(placed)));
"""


def test_no_label_covers_another_or_leaves_the_chart():
    script = files.read("marks.js").decode() + RUN
    placed = answer_of(script)
    for name, texts in placed.items():
        boxes = [(each["row"], each["x"], each["x"] + SIGN * len(each["label"])) for each in texts]
        assert all(start >= LEFT and end <= RIGHT for _, start, end in boxes), name
        for one, (row, start, end) in enumerate(boxes):
            same = [other for other in boxes[one + 1 :] if other[0] == row]
            assert all(end < its_start or its_end < start for _, its_start, its_end in same), name
    assert [each["row"] for each in placed["apart"]] == [0, 0]
    assert [each["label"] for each in placed["right edge"]] == ["web 1", "web 2", "web 3"]
    assert [each["label"] for each in placed["same time"]] == ["web 1 and 2 more"]
    assert max(each["row"] for each in placed["many"]) == 3


def test_a_value_between_unknown_ones_is_a_point_because_no_line_connects_it():
    values = [[7, None, 1, 2, None, 0, None], [1, 2, 3], [None, None], [4]]
    asked = f"console.log(JSON.stringify({json.dumps(values)}.map(isolated)));"
    without_page = "globalThis.document = { querySelectorAll: () => [] };"
    found = answer_of(without_page + files.read("chart.js").decode() + asked)
    assert found == [[0, 5], None, None, [0]], "0 is known"


def answer_of(script: str) -> Any:
    ran = subprocess.run(
        ["node", "-"], input=script, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=True
    )
    return json.loads(ran.stdout)
