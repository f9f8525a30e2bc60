"""Outages of components, and messages that are no lines: the job continues, and nothing is lost."""

import os
import signal

import msgpack
import pytest
from confluent_kafka import Producer
from prometheus_client.parser import text_string_to_metric_families

from e2e.health import await_alert, await_cleared, fires
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, source_of, wait_until
from e2e.wait_for_idle import assert_exact, tailrace
from e2e.workload.writer import Mix, Workload
from tailrace.sources import sources_file
from tailrace_local import health
from tailrace_local.supervisor import control

TOPIC = "tailrace.slowlog.lines"
CLIENTS_SECONDS = 60
"""After so long a client of Kafka gives up by default, and with it a job."""


@pytest.mark.parametrize("component", ["kafka", "clickhouse"])
def test_away_for_a_while(stack, watched, component):
    alerts = {
        "kafka": ["TailraceComponentDown"],
        "clickhouse": ["TailraceComponentDown", "TailraceLedgerUnavailable"],
    }
    # Longer than a missing range is waited for.
    seconds = round(1.5 * stack.settings.gap_timeout)
    _outage(stack, watched(seed=1), component, seconds, alerts=alerts[component])


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("component", ["kafka", "clickhouse"])
def test_away_for_ten_minutes(stack, watched, component):
    alerts = {"kafka": ["TailraceLag"], "clickhouse": ["TailraceCommitRetries"]}
    _outage(stack, watched(seed=2), component, seconds=600, alerts=alerts[component])


@pytest.mark.long
def test_lines_without_a_census(stack, tmp_path):
    workload = Workload(tmp_path / "logs", 6, "without-census")
    instance = workload.manifests[0].instance
    with stack.without("census"):
        sources_file.add(stack.settings.sources, [source_of(log) for log in workload.logs])
        control.restart(stack.home, "fluentbit")
        workload.write(300)
        workload.finish()
        await_alert(stack, "TailraceLag", instance=instance)
        await_alert(stack, "TailraceCensusMissing", instance=instance)
        assert "their completeness is unknown" in tailrace(stack, "ledger", "--instance", instance)
        assert _censuses(stack, instance) == 0
    assert_exact(stack, workload.manifests)
    await_cleared(stack, "TailraceLag", instance=instance)
    await_cleared(stack, "TailraceCensusMissing", instance=instance)
    stack.unwatch(workload.logs)


def _outage(stack: Stack, workload, component: str, seconds: int, alerts: list[str]) -> None:
    rate = 100
    # Logs of tests that are over lag too: their labels differ.
    labels = {
        "TailraceComponentDown": {"component": component},
        "TailraceLag": {"instance": workload.manifests[0].instance},
    }
    with workload.writing(rate):
        wait_until(lambda: workload.entries >= 300, "entries before the outage")
        if "TailraceLag" in alerts:
            wait_until(lambda: _censuses(stack, **labels["TailraceLag"]) > 0, "the first census")
        failovers = _failovers(stack) if seconds > CLIENTS_SECONDS else None
        with stack.without(component):
            before = workload.entries
            wait_until(
                lambda: workload.entries >= before + rate * seconds,
                "the outage to end",
                seconds=seconds + LIMIT_SECONDS,
            )
            for alert in alerts:
                await_alert(stack, alert, **labels.get(alert, {}))
            assert alerts[0] in tailrace(stack, "health", expected=1)
    stack.await_healthy()
    assert_exact(stack, workload.manifests)
    if failovers is not None:
        assert _failovers(stack) == failovers  # the job waits and does not restart
    for alert in alerts:
        await_cleared(stack, alert, **labels.get(alert, {}))


def _failovers(stack: Stack) -> float:
    """Returns how often Flink has restarted the running normalize job, as soon as the job reports it."""
    values: list[float] = []

    def asked() -> bool:
        text = health.component_metrics(stack.settings, stack.home, "flink")
        samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
        values.extend(each.value for each in samples if each.name == "flink_jobmanager_job_numRestarts")
        return bool(values)

    wait_until(asked, "the job to report its number of restarts")
    return values[0]


def _censuses(stack: Stack, instance: str) -> int:
    """How many are in the ledger."""
    censuses = "tailrace.ledger WHERE kind = 'CENSUS' AND instance = {instance:String}"
    return stack.clickhouse().rows(f"SELECT count() AS n FROM {censuses}", {"instance": instance})[0]["n"]


def test_a_job_that_hangs_is_restarted_by_hand(stack, watched):
    workload = watched(seed=5)
    workload.write(300)
    pid = stack.status("flink").pid
    os.kill(pid, signal.SIGSTOP)
    try:
        await_alert(stack, "TailraceJobDown", job="flink")
        await_alert(stack, "TailraceComponentDown", component="flink")
        workload.write(300)
        workload.finish()
        assert "the job flink is not running" in tailrace(stack, "health", expected=1)
        assert stack.status("flink").pid == pid  # it has not ended, so nobody starts it again
    finally:
        tailrace(stack, "restart", "flink")
    assert_exact(stack, workload.manifests)
    await_cleared(stack, "TailraceJobDown", job="flink")
    await_cleared(stack, "TailraceComponentDown", component="flink")


def test_a_collector_that_crashes_again_and_again(stack, watched):
    # A gap that ends within a statement which contains an entry header is ambiguous: docs/LEDGER.md.
    workload = watched(seed=7, mix=Mix(nasty=0))
    for _ in range(4):
        assert not fires(stack, "TailraceComponentCrashes")
        workload.write(100)
        stack.kill("fluentbit")
        stack.await_healthy()
    # A killed collector may lose its queue; without later lines that is no gap that a backfill could fill.
    workload.write(100)
    workload.finish()
    await_alert(stack, "TailraceComponentCrashes", component="fluentbit")
    assert "fluentbit crashed 4 times in the last ten minutes" in tailrace(stack, "health", expected=1)
    assert "ended by SIGKILL" in tailrace(stack, "status")
    tailrace(stack, "restart", "fluentbit")
    await_cleared(stack, "TailraceComponentCrashes", component="fluentbit")
    assert_exact(stack, workload.manifests)


def test_parts_of_a_table_that_are_not_merged(stack):
    table = "tailrace.server_snapshots"
    clickhouse = stack.clickhouse()
    assert not fires(stack, "TailraceTableParts")
    clickhouse.execute(f"SYSTEM STOP MERGES {table}")
    try:
        clickhouse.execute(
            f"INSERT INTO {table} (instance, kind, at, part)"
            " SELECT 'parts', 'none', now(), number FROM numbers(600)",
            max_block_size=1,
            min_insert_block_size_rows=1,
            max_insert_threads=1,
        )
        await_alert(stack, "TailraceTableParts")
        assert "has 600 parts" in tailrace(stack, "health", expected=1)
    finally:
        clickhouse.execute(f"SYSTEM START MERGES {table}")
    await_cleared(stack, "TailraceTableParts")
    assert clickhouse.rows(f"SELECT count() AS n FROM {table} WHERE instance = 'parts'") == [{"n": 600}]


def test_job_and_collector_start_before_clickhouse_and_kafka(stack, watched):
    workload = watched(seed=3)
    with stack.without("clickhouse"), stack.without("kafka"):
        stack.kill("flink")
        stack.kill("fluentbit")
        workload.write(500)
        workload.finish()
        wait_until(lambda: stack.status("fluentbit").is_healthy, "Fluent Bit to collect without Kafka")
        wait_until(lambda: stack.has_queued(workload.logs), "the lines to be read")
    assert_exact(stack, workload.manifests)


def test_messages_that_are_no_lines_become_dead_letters(stack, watched):
    workload = watched(seed=4)
    producer = Producer({"bootstrap.servers": f"127.0.0.1:{stack.settings.port_kafka}"})
    poison = [
        b"",
        b"\xc1 no msgpack",
        msgpack.packb([1, 2, 3]),
        msgpack.packb({"instance": "poison"}),
        msgpack.packb({**_line(), "offset": -1}),
        msgpack.packb({**_line(), "offset": "zero"}),
        msgpack.packb({**_line(), "log": None}),
        msgpack.packb(_line())[:-3],
    ]
    for message in poison:
        producer.produce(TOPIC, key=b"poison", value=message)
    assert producer.flush(LIMIT_SECONDS) == 0
    workload.write(300)
    workload.finish()
    assert_exact(stack, workload.manifests)
    clickhouse = stack.clickhouse()
    statement = (
        "SELECT count() AS n FROM tailrace.dead_letters"
        " WHERE instance = 'poison' AND code = 'MALFORMED_MESSAGE'"
    )
    wait_until(lambda: clickhouse.rows(statement)[0]["n"] >= len(poison), f"{len(poison)} dead letters")


def _line() -> dict[str, object]:
    return {
        "cluster": "c",
        "instance": "poison",
        "source": "slowlog",
        "format": "auto",
        "tz": "UTC",
        "path": "/poison.log",
        "offset": 0,
        "log": b"# Time: 2026-11-21T00:00:00.000000Z",
    }
