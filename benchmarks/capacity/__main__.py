"""Sizes an installation and simulates its day with failures: `make capacity ARGUMENTS="--terabytes 10"`.

Reads figures.yaml, and prints what is measured, what is assumed, and what was simulated from both.
"""

import argparse
from collections.abc import Iterator

from benchmarks.capacity import figures as all_figures
from benchmarks.capacity.figures import CLASSES, Figures
from benchmarks.capacity.simulation import (
    Failure,
    Outcome,
    failures_of,
    first_to_fail,
    rate_of_day,
    simulate,
)
from benchmarks.capacity.sizing import GB, HOUR, STAGES, TB, Plan, cost, plan, seconds_of

MINUTES = 60


def main() -> None:
    parser = argparse.ArgumentParser(prog="make capacity", description=__doc__)
    parser.add_argument("--terabytes", type=float, default=10, help="slow logs a day; default: 10")
    parser.add_argument("--outage", type=float, default=10, help="minutes of each failure; default: 10")
    options = parser.parse_args()
    figures = all_figures.load()
    amount = options.terabytes * TB
    found = plan(figures, amount)
    for kind in CLASSES:
        print(f"\n{kind}:")
        for name, each in figures.all.items():
            if each.kind == kind:
                print(f"  {name:24}{each.value:>12.4g} {each.unit:34} {each.source}")
    _print_plan(figures, found, amount)
    _print_failures(figures, found, options.outage * MINUTES)


def _print_plan(figures: Figures, found: Plan, amount: float) -> None:
    load, seconds = found.load, seconds_of(figures)
    print(f"\ncalculated for {amount / TB:g} TB a day:")
    print(f"  entries a second: {load.average:,.0f} on average, {load.peak:,.0f} in the busiest hour")
    print(
        f"  {'stage':12}{'cores at the peak':>18}{'planned':>9}{'used at the peak':>18}{'saturated at':>14}"
    )
    for stage in STAGES:
        needed = load.peak * seconds[stage]
        multiple = found.capacity[stage] / load.peak
        share = needed / found.cores[stage]
        print(f"  {stage:12}{needed:18.1f}{found.cores[stage]:9.0f}{share:18.0%}{multiple:12.2f} x")
    full = ", ".join(f"{what} at {multiple:.2f} x" for what, multiple in first_to_fail(figures, found)[:4])
    print(f"  what fails first, at a multiple of the planned load: {full}")
    for line in _servers(figures, found):
        print(f"  {line}")
    each = cost(figures, found, amount)
    print(f"  for each TB: {each.cpu_hours:.0f} CPU-hours of work, {each.core_hours:.0f} core-hours provided")
    print(
        f"  stored of each TB: {each.kafka_gb:,.0f} GB in Kafka, {each.clickhouse_gb:,.0f} GB in ClickHouse"
    )
    print(f"  price of a TB, with the assumed prices: {each.price:.0f} USD")


def _servers(figures: Figures, found: Plan) -> Iterator[str]:
    collected = found.load.peak / found.hosts * (figures["fluentbit_seconds"] + figures["census_seconds"])
    servers = found.clickhouse_servers
    yield f"hosts with a collector: {found.hosts}, each {collected:.1%} of a core"
    yield f"brokers: {found.brokers} with {found.kafka_bytes / found.brokers / TB:.1f} TB each"
    yield f"partitions of lines and events: {found.partitions}"
    yield f"TaskManagers: {found.normalize_managers} of normalize, {found.detect_managers} of detect"
    yield (
        f"ClickHouse: {found.shards} shards of {found.replicas} replicas, {servers} servers with"
        f" {found.clickhouse_bytes / servers / TB:.1f} TB each; {found.clickhouse_bytes / GB:,.0f} GB in all"
    )


def _print_failures(figures: Figures, found: Plan, seconds: float) -> None:
    peak = figures.hours.index(max(figures.hours)) * HOUR
    print(f"\nsimulated: {seconds / MINUTES:g} minutes each, at the start of the busiest hour")
    print(f"  {'failure':28}{'waiting, M entries':>19}{'row lag':>10}{'alert lag':>11}{'drained after':>15}")
    rate = rate_of_day(figures, found.load)
    failures: list[list[Failure]] = [[]]
    failures += [[each] for each in failures_of(figures, found, peak, seconds)]
    for some in failures:
        _print_outcome(simulate(rate, dict(found.capacity), some))


def _print_outcome(each: Outcome) -> None:
    drained = "never" if each.drained is None else f"{each.drained / MINUTES:.1f} min"
    waiting = max(each.largest.values()) / 1e6
    lags = f"{each.row_lag / MINUTES:6.1f} min{each.alert_lag / MINUTES:7.1f} min"
    print(f"  {each.what or 'none':28}{waiting:19,.1f}{lags}{drained:>15}")


if __name__ == "__main__":
    main()
