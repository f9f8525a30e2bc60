"""Migrations of three replicas, on each server in order, without ON CLUSTER."""

import pytest

pytestmark = pytest.mark.replicas


def test_every_server_has_the_whole_schema(three_replicas):
    assert three_replicas.migrate() == []
