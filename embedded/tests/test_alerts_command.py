"""The parts of `tailrace alerts` that need no server."""

import json
import re

from tailrace.alerts.triage import FIELDS
from tailrace.cli import output
from tailrace.config.resources import REPOSITORY

TAXONOMY = "stream-jobs/detection/src/main/java/io/tailrace/detection/event/DatabaseField.java"


def test_json_contains_no_control_characters(capsys):
    given = {"user": "ann\x9b31m\x85\x7f\u202e\u2028 Zoë"}
    output.write_json(given)

    printed = capsys.readouterr().out
    assert json.loads(printed) == given
    assert "\\u009b31m\\u0085\\u007f\\u202e\\u2028 Zoë" in printed
    assert all(sign.isprintable() or sign == "\n" for sign in printed)


def test_fields_are_those_of_the_taxonomy():
    declared = re.findall(r'^    [A-Z_]+\("(\w+)"', (REPOSITORY / TAXONOMY).read_text(), re.MULTILINE)
    assert list(FIELDS) == declared
