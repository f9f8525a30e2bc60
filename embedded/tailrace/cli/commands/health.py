"""Shows the health alerts of Tailrace itself that fire now, with the runbook of each.

They watch lag, gaps, dead letters, checkpoints, disks, commit retries and components. The rules are the same
as for Prometheus (docs/METRICS.md).
"""

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import groupby

from prometheus_client.metrics_core import Metric

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.health import rules
from tailrace.health.rules import Firing

HELP = "show health alerts of Tailrace itself; exits 1 if one fires"
EXAMPLES = ("tailrace health", "tailrace health --output json")
EXIT_CODES = {0: "nothing fires", 1: "a health alert fires", 3: "the stack is not running"}
SEE_ALSO = ("tailrace status", "tailrace doctor", "docs/runbooks/README.md")
KEYS = {
    "": {
        "alert": "the name of the rule",
        "severity": "critical or warning",
        "labels": "labels of the metric, an object",
        "value": "the value of the rule's expression",
        "summary": "one sentence",
        "runbook": "the page with the steps to resolve it",
    }
}
UNWATCHED = "tailrace_source_removed_timestamp_seconds"
MAX_OF_RULE = 10
"""Printed alerts of one rule; the JSON form has all."""
COLOURS = {"critical": console.RED, "warning": console.YELLOW}


def configure(parser: argparse.ArgumentParser) -> None:
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    metrics = list(context.health_metrics())
    found = rules.firing(rules.load(), metrics)
    rows = [_json(each) for each in found]
    if arguments.output == output.JSON:
        output.write_json(rows)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[""], rows)
    else:
        _show(found)
        _print_unwatched(metrics)
    return Exit.FAILED if found else Exit.OK


def _show(found: list[Firing]) -> None:
    if not found:
        print("nothing fires")
    for _, of_rule in groupby(found, key=lambda each: each.rule.name):
        alerts = list(of_rule)
        rule = alerts[0].rule
        for each in alerts[:MAX_OF_RULE]:
            print(console.styled(f"{rule.name}: {each.summary}", COLOURS[rule.severity]))
        console.rest(len(alerts), MAX_OF_RULE)
        print(f"  what to do: {rule.runbook}")


def _print_unwatched(metrics: Iterable[Metric]) -> None:
    """Prints logs that were removed from sources.yaml, so that readers do not wait for them."""
    for sample in (sample for metric in metrics for sample in metric.samples if metric.name == UNWATCHED):
        since = datetime.fromtimestamp(sample.value, UTC)
        log = f"{sample.labels['instance']}'s {sample.labels['source']}"
        print(f"{log} is no longer watched, since {since:%Y-%m-%d %H:%M} UTC")


def _json(found: Firing) -> dict[str, object]:
    return {
        "alert": found.rule.name,
        "severity": found.rule.severity,
        "labels": dict(found.labels),
        "value": found.value,
        "summary": found.summary,
        "runbook": found.rule.runbook,
    }
