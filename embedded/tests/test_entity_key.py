"""Alerts of the detect job and of Python name the same entity by the same text."""

import json
from pathlib import Path

import pytest

from tailrace.alerts.entity_key import entity_key

CONTRACTS = Path(__file__).resolve().parents[2] / "schemas" / "contracts"
CASES = json.loads((CONTRACTS / "entity_key.json").read_text())


@pytest.mark.parametrize(("entity", "key"), [tuple(case.values()) for case in CASES])
def test_entity_key(entity, key):
    assert entity_key(entity) == key
