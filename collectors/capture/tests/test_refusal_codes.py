"""The codes of denied queries are those of schemas/contracts/refusal_code.json."""

import json
from pathlib import Path

import pytest

from tailrace_capture import server

CONTRACT = Path(__file__).parents[3] / "schemas" / "contracts" / "refusal_code.json"


@pytest.mark.parametrize("case", json.loads(CONTRACT.read_text()))
def test_a_refusal_is_denied(case):
    assert (case["code"] in server.DENIED) == (case["kind"] != "")
