"""Waits for inserts that began before a change of the tables, and may still write as before it."""

import time

from tailrace.clickhouse.client import ClickHouse

LONGEST = """
SELECT max(elapsed) AS longest FROM {processes} WHERE query_kind IN ('Insert', 'AsyncInsertFlush')
"""
POLL_SECONDS = 0.05


def await_end(clickhouse: ClickHouse, seconds: float, cluster: str = "") -> bool:
    """Waits until all inserts that run now have ended; returns False if one needs more than `seconds`.

    `cluster` includes inserts on its other servers. Raises ClickHouseError, OSError.
    """
    processes = f"clusterAllReplicas('{cluster}', system.processes)" if cluster else "system.processes"
    started = time.monotonic()
    while True:
        passed = time.monotonic() - started
        if clickhouse.rows(LONGEST.format(processes=processes))[0]["longest"] <= passed:
            return True
        if passed > seconds:
            return False
        time.sleep(POLL_SECONDS)
