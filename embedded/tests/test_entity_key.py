"""Alerts of the detect job and of Python name the same entity by the same text."""

import json
from pathlib import Path

import pytest

from tailrace.alerts.entity_key import entity_key, entity_of, in_words

CONTRACTS = Path(__file__).resolve().parents[2] / "schemas" / "contracts"
CASES = json.loads((CONTRACTS / "entity_key.json").read_text())


@pytest.mark.parametrize(("entity", "key"), [tuple(case.values()) for case in CASES])
def test_entity_key(entity, key):
    assert entity_key(entity) == key


@pytest.mark.parametrize(("entity", "key"), [tuple(case.values()) for case in CASES])
def test_entity_of_key(entity, key):
    assert entity_of(key) == entity


@pytest.mark.parametrize("key", ["user", "user=", "user=a  host=b", 'user="a', 'user="a"', "user=a user=b"])
def test_other_texts_are_no_keys(key):
    with pytest.raises(ValueError, match=r"zip|is no key of an entity"):
        entity_of(key)


def test_words_name_the_server_only_if_it_is_the_entity():
    assert in_words({"instance": "db1", "user": "app", "src_ip": "10.0.0.9"}) == "user app, client 10.0.0.9"
    assert (
        in_words({"src_ip": "10.0.0.9", "query_id": "ab", "user": "app"})
        == "user app, client 10.0.0.9, query AB"
    )
    assert in_words({"cluster": "shop", "instance": "db1"}) == "cluster shop, server db1"
    assert in_words({"instance": "db1", "query_id": "9d2588c0b2ec1927"}) == "query 9D2588C0B2EC1927"
    assert in_words({}) == ""
