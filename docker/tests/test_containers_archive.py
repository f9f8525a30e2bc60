"""The CronJobs of the archive in containers, with a real ClickHouse and an object store of moto.

The image is that of docker/own-archive.yaml, on the bases of built_images.py.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from docker.tests import pods
from docker.tests.built_images import archive as archive  # fixtures
from docker.tests.built_images import base as base
from docker.tests.built_images import bud as bud
from docker.tests.built_images import build as build
from docker.tests.built_images import buildah as buildah
from docker.tests.built_images import flink_base as flink_base
from docker.tests.built_images import tools as tools
from docker.tests.container_stack import BUCKET
from docker.tests.container_stack import archiving as archiving  # fixtures
from docker.tests.container_stack import directory as directory
from docker.tests.container_stack import podman as podman
from docker.tests.container_stack import stack as stack
from docker.tests.container_stack import store as store
from docker.tests.workloads import NODE, Volumes, assert_finished
from e2e import object_store

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

ROWS = 500
DAY = (datetime.now(UTC) - timedelta(days=3)).date()
"""A closed day."""
EVENTS = """
INSERT INTO tailrace.query_events
    (event_id, cluster, instance, source, log, generation, event_time, user, verb, ingested_at)
SELECT generateUUIDv4(), 'shop', 'shop-db-1', 'slowlog', '/var/log/mysql/slow.log', 1,
    toDateTime64({day:String}, 6, 'UTC') + toIntervalMinute(number), 'app', 'SELECT',
    toDateTime({day:String}, 'UTC') + toIntervalDay(1)
FROM numbers({rows:UInt64})
"""


@pytest.fixture
def run(podman, archiving, stack, directory, store) -> Callable[[str], None]:
    """Runs the pod of a CronJob of the archive to its end, which must be a success."""
    secrets = {"tailrace-archive": {"keys": f"{object_store.ACCESS_KEY}\n{object_store.SECRET_KEY}\n"}}

    def ended(doing: str) -> None:
        name = f"tailrace-archive-{doing}"
        volumes = Volumes(directory / "volumes" / name, archiving, stack.home, secrets)
        pod = podman.play(pods.pod(archiving["CronJob", name], volumes, NODE), directory)
        assert_finished(podman, f"{pod}-archive")

    return ended


def test_a_closed_day_is_archived_and_every_row_is_read_back(run, stack, store):
    stack.clickhouse().execute(EVENTS, {"day": f"{DAY} 00:00:00", "rows": ROWS})
    run("run")

    assert state_of(stack) == ("verified", ROWS)
    sizes = store.sizes(BUCKET, "shop/tables/query_events/data/")
    assert any(key.endswith(".parquet") for key in sizes)

    run("verify")


def state_of(stack) -> tuple[str, int]:
    """Returns the state of the archived day and the number of its rows."""
    (row,) = stack.clickhouse().rows(
        "SELECT state, rows FROM tailrace.archived_days FINAL "
        "WHERE table = 'query_events' AND day = {day:Date}",
        {"day": str(DAY)},
    )
    return row["state"], row["rows"]
