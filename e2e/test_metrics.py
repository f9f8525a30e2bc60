"""What docs/METRICS.md lists is exported, as Prometheus' own parser reads it, and the numbers are so."""

import os
import re
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from e2e import commands, hostile_clients
from e2e.prometheus import Prometheus
from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import assert_exact, tailrace
from e2e.workload.writer import Workload
from tailrace.config.resources import REPOSITORY
from tailrace.health import rules

PROMETHEUS_PORT = int(os.environ.get("PROMETHEUS_PORT", "24709"))
RESETS = 300
"""On each port."""
DOCUMENT = (REPOSITORY / "docs" / "METRICS.md").read_text()
OURS = re.compile(
    r"flink_taskmanager_job_task_operator_"
    r"(clickhouse_|.*(undecodable|duplicate_events|evicted_sessions|_early|orphaned_correlation|_without_"
    r"|expired_exceptions|(?<!exception_)suppressed_matches)).*"
)
"""What our own operators count; of Flink's and the other engines' own metrics the document lists some."""
FORMER = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|$", DOCUMENT, re.MULTILINE))
"""Former names by present ones; both are exported."""
ONLY_WHEN_SO = {
    *("tailrace_behind_seconds", "tailrace_recent_dead_letters", "tailrace_census_missing_seconds"),
    *("tailrace_pull_unread_seconds", "tailrace_pull_permission_missing"),
    *("tailrace_audit_state", "tailrace_audit_silent_seconds", "tailrace_recent_audit_changes"),
    "tailrace_unsigned_seconds",
}
"""Without a sample where nothing is behind, no letter is dead, each log has a census and is signed, none is
pulled, and capture polls no server."""


@pytest.fixture(scope="module")
def stack(detecting: Stack) -> Stack:
    return detecting


@pytest.fixture(scope="module")
def workload(stack: Stack, tmp_path_factory) -> Workload:
    written = Workload(tmp_path_factory.mktemp("logs"), 1, "measured")
    stack.watch(written.logs)
    written.write(500)
    written.finish()
    assert_exact(stack, written.manifests)
    return written


def scraped(stack: Stack, path: str) -> dict[str, Metric]:
    """By the name of the first sample, or the family's where it has none."""
    with urllib.request.urlopen(f"{stack.status('metrics').address}{path}", timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        text = answer.read().decode()
    written = {re.split("[{ ]", line)[0] for line in text.splitlines() if not line.startswith("#")}
    families = list(text_string_to_metric_families(text))
    assert families
    typed = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    return {_name(family, written | typed): family for family in families}


def _name(family: Metric, written: set[str]) -> str:
    """The parser gives every counter an ending `_total`, ClickHouse's too, which have none, and takes it from
    the name of a family without samples."""
    name = family.samples[0].name if family.samples else family.name
    names = (name, f"{name}_total", name.removesuffix("_total"))
    return next(each for each in names if each in written)


def documented(path: str) -> set[str]:
    """The names in the first column of the table below the heading that has the path, and their former
    names."""
    section = re.search(rf"^## .*`{path}`.*$\n((?:(?!^## ).*\n)*)", DOCUMENT, re.MULTILINE)[1]
    names = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert names
    return names | {FORMER[name] for name in names & FORMER.keys()}


def await_equal(asked: Callable[[], object], expected: object, what: str) -> None:
    """Waits for an answer; the error contains the last one."""
    found: list[object] = []

    def is_expected() -> bool:
        found[:] = [asked()]
        return found == [expected]

    try:
        wait_until(is_expected, what)
    except AssertionError as error:
        raise AssertionError(f"{error}: expected {expected}, found {found}") from None


def components_up(metrics: dict[str, Metric]) -> dict[str, float]:
    return {sample.labels["component"]: sample.value for sample in metrics["tailrace_component_up"].samples}


@pytest.mark.usefixtures("workload")
def test_our_own_metrics_are_exactly_those_of_the_document(stack: Stack):
    listed = documented("/metrics")
    await_equal(lambda: scraped(stack, "/metrics").keys(), listed, "the metrics of the document")


@pytest.mark.usefixtures("workload")
@pytest.mark.parametrize("component", ["fluentbit", "kafka", "flink", "detect", "clickhouse"])
def test_metrics_of_the_document_are_exported(stack: Stack, component: str):
    listed = documented(f"/metrics/{component}")
    ours = {name for name in listed if OURS.fullmatch(name)}

    def missing_and_ours() -> tuple[list[str], set[str]]:
        exported = {*scraped(stack, f"/metrics/{component}")}
        return sorted(listed - exported), {name for name in exported if OURS.fullmatch(name)}

    # A job reports some only after its first checkpoint, or with its next heartbeat.
    await_equal(missing_and_ours, ([], ours), f"the metrics of {component}")


def test_the_numbers_are_so(stack: Stack, workload: Workload):
    # After a slow start a part's first check may have failed; the next one is seconds later. A job that does
    # not answer within two seconds is reported as down.
    expected = {
        "components": dict.fromkeys(stack.settings.chosen_components(), 1.0),
        "jobs": {"flink": 1, "detect": 1},
        "tailrace_ledger_up": [1],
        "tailrace_ledger_imbalances": [0],
    }

    def numbers() -> dict[str, object]:
        own = scraped(stack, "/metrics")
        jobs = {sample.labels["job"]: sample.value for sample in own["tailrace_job_up"].samples}
        ledger = ("tailrace_ledger_up", "tailrace_ledger_imbalances")
        values = {name: [sample.value for sample in own[name].samples] for name in ledger if name in own}
        return {"components": components_up(own), "jobs": jobs, **values}

    await_equal(numbers, expected, "the numbers of a stack that is well")
    inserted = "flink_taskmanager_job_task_operator_clickhouse_insertedRows"

    def stored() -> float:
        metrics = scraped(stack, "/metrics/flink")
        return sum(sample.value for sample in metrics[inserted].samples) if inserted in metrics else 0

    wait_until(lambda: stored() >= 500, "the job to report the inserted rows")


def test_a_log_that_is_taken_off_the_list_does_not_lag_and_one_whose_census_is_dead_does(
    stack: Stack, workload: Workload
):
    log = {"instance": workload.manifests[0].instance, "source": workload.logs[0].shape.source}

    def values(metric: str) -> list[float]:
        return [each.value for each in scraped(stack, "/metrics")[metric].samples if each.labels == log]

    # Lines may be in the ledger before the first census, which comes with the next checkpoint.
    wait_until(lambda: len(values("tailrace_lag_seconds")) == 1, "the first census to be reported")
    with stack.without("census"):
        await_equal(lambda: len(values("tailrace_lag_seconds")), 1, "the lag without a census")
        await_equal(lambda: values("tailrace_source_removed_timestamp_seconds"), [], "no log to be left")
        began = time.time()
        stack.unwatch(workload.logs)
    wait_until(lambda: values("tailrace_lag_seconds") == [], "the log to be left")
    await_equal(lambda: len(values("tailrace_source_removed_timestamp_seconds")), 1, "the time of that")
    assert began <= values("tailrace_source_removed_timestamp_seconds")[0] <= time.time()
    await_well(stack, f"{log['instance']}'s {log['source']} is no longer watched, since 2")
    stack.watch(workload.logs)
    await_equal(lambda: len(values("tailrace_lag_seconds")), 1, "the log to be watched again")
    await_equal(lambda: values("tailrace_source_removed_timestamp_seconds"), [], "the log not to be left")


def await_well(stack: Stack, text: str) -> None:
    """Waits until `tailrace health` prints this text, and that nothing fires.

    On a busy machine a component that did not answer in time is down until its next check.
    """

    def is_well() -> bool:
        done = commands.run(stack.settings.environment(), "health")
        return done.returncode == 0 and text in done.stdout

    wait_until(is_well, f"{text!r}")


def test_there_is_nothing_elsewhere(stack: Stack):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        scraped(stack, "/metrics/nothing")


def test_a_stack_that_is_well_raises_nothing_and_one_that_is_not_does(stack: Stack):
    await_well(stack, "nothing fires\n")
    with stack.without("fluentbit"):
        assert "TailraceComponentDown: fluentbit is not healthy" in tailrace(stack, "health", expected=1)
    await_well(stack, "nothing fires\n")


def test_no_client_ends_a_part(stack: Stack, workload: Workload):
    hostile_clients.attack_all_ports(stack, RESETS)
    assert_exact(stack, workload.manifests)


@pytest.mark.long
def test_prometheus_judges_as_health_does(stack: Stack, workload: Workload, tmp_path: Path):
    if not shutil.which("prometheus"):
        pytest.skip("no Prometheus here: Debian's package prometheus")
    prometheus = Prometheus(tmp_path, stack, PROMETHEUS_PORT)
    always = {rule.metric for rule in rules.load()} - ONLY_WHEN_SO
    with prometheus.running():
        wait_until(lambda: all(map(prometheus.has, always)), f"Prometheus to have {sorted(always)}")
        assert prometheus.has(f'tailrace_lag_seconds{{instance="{workload.manifests[0].instance}"}}')
        wait_until(lambda: prometheus.healths_of_targets() == {"up"}, "all parts to be scraped")
        wait_until(lambda: prometheus.alerts() == set(), "nothing to fire")
        down = ("TailraceComponentDown", "fluentbit", "firing")
        with stack.without("fluentbit"):
            wait_until(lambda: down in prometheus.alerts(), "Prometheus to raise the alert")
            assert "TailraceComponentDown: fluentbit is not healthy" in tailrace(stack, "health", expected=1)
        stack.await_healthy()
        wait_until(lambda: prometheus.alerts() == set(), "Prometheus to clear the alert")
        await_well(stack, "nothing fires\n")
