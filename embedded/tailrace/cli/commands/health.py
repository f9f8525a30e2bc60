"""Shows the health alerts that fire now: lag, gaps, dead letters, checkpoints, disks, commit retries,
components. Each has a runbook. The rules are the same as for Prometheus (docs/METRICS.md).

Exits with 0 when nothing fires, 1 when something does, 3 when nothing runs.
"""

import argparse
import json
from collections.abc import Iterable
from datetime import UTC, datetime

from prometheus_client.metrics_core import Metric

from tailrace.cli import console
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.health import rules
from tailrace.health.rules import Firing

HELP = "show health alerts of Tailrace itself; exits 1 if one fires"
EXAMPLES = ("tailrace health", "tailrace health --json")
UNWATCHED = "tailrace_source_removed_timestamp_seconds"
COLOURS = {"critical": console.RED, "warning": console.YELLOW}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON array")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    metrics = list(context.health_metrics())
    found = rules.firing(rules.load(), metrics)
    if arguments.json:
        print(json.dumps([_json(each) for each in found], indent=2))
    elif not found:
        print("nothing fires")
    else:
        for each in found:
            print(console.styled(f"{each.rule.name}: {each.summary}", COLOURS[each.rule.severity]))
            print(f"  what to do: {each.rule.runbook}")
    if not arguments.json:
        _print_unwatched(metrics)
    return Exit.FAILED if found else Exit.OK


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
