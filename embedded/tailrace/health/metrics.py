"""Tailrace's metrics from the ledger, the checkpoints and the supervisor. docs/METRICS.md lists them."""

import json
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from tailrace.clickhouse.client import ClickHouse, ClickHouseError, Row
from tailrace.clickhouse.query_files import text_of
from tailrace.health import channels, watched_servers
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger import listed_logs
from tailrace.ledger.balance import LedgerBalance
from tailrace.ledger.unknown_logs import NONE_LISTED
from tailrace.sources.log_key import LogKey

RECENT_SECONDS = 900
"""The age up to which a dead letter counts as recent."""
FORGOTTEN_SECONDS = 7 * 86400
"""A log without a census for this long counts as no longer watched."""
REST_SECONDS = 2

Log = tuple[str, str]
OF_LOGS = ("instance", "source")
NONE_LEFT: Mapping[Log, float] = MappingProxyType({})
RECENT_DEAD_LETTERS = """
SELECT instance, source, code, count() AS letters
FROM tailrace.dead_letters FINAL
WHERE NOT superseded AND ingested_at > now() - {seconds:UInt32}
    AND rejected_at > now64(6) - {seconds:UInt32} - 86400
GROUP BY instance, source, code
"""


def ledger_metrics(
    clickhouse: ClickHouse,
    recent_seconds: int = RECENT_SECONDS,
    left: Mapping[Log, float] = NONE_LEFT,
    listed: Mapping[LogKey, float] = NONE_LISTED,
) -> Iterator[Metric]:
    """Yields the metrics of the ledger. The user must have access to the ledger.

    `left`: logs that are no longer watched, and since when, in seconds since 1970 UTC. They do not lag,
    unless a later census shows that another collector watches them. `listed`: watched logs of this machine,
    and since when; those that other hosts list are read. One without any line is unknown.
    """
    up = GaugeMetricFamily("tailrace_ledger_up", "Whether the ledger could be read.")
    try:
        listed = {**listed_logs.now_listed(clickhouse), **listed}
        found = ledger_balance.read(clickhouse, listed=listed)
        since = clickhouse.rows(text_of("ledger_behind_since"), timeout=10)
        unseen = _without_census(clickhouse)
        letters = clickhouse.rows(RECENT_DEAD_LETTERS, {"seconds": recent_seconds}, timeout=10)
        of_channels = list(channels.metrics_of(clickhouse, found.at.timestamp()))
        watched = list(watched_servers.metrics_of(clickhouse, found.at.timestamp()))
    except (ClickHouseError, OSError):
        up.add_metric([], 0)
        yield up
        return
    up.add_metric([], 1)
    yield up
    now = found.at.timestamp()
    yield GaugeMetricFamily(
        "tailrace_ledger_imbalances", "Number of imbalances in the ledger.", value=len(found.imbalances)
    )
    yield from _of_censuses(found, unseen, left, listed)
    yield from _sums(found)
    behind = _greatest(((row["instance"], row["source"]), now - row["since"]) for row in since)
    yield _by_log("tailrace_behind_seconds", "Age of the oldest unread bytes that a census recorded.", behind)
    yield _dead_letters(letters, recent_seconds)
    yield from watched
    yield from of_channels


def _of_censuses(
    found: LedgerBalance,
    unseen: Mapping[Log, float],
    left: Mapping[Log, float],
    listed: Mapping[LogKey, float],
) -> Iterator[Metric]:
    now = found.at.timestamp()
    newest = _newest_censuses(found, now)
    over = removed_sources(newest, left)
    yield _lag({log: at for log, at in newest.items() if log not in over}, unseen, now)
    yield _by_log(
        "tailrace_clock_ahead_seconds",
        "How far the time of the newest census is in the future.",
        {log: at - now for log, at in newest.items() if log not in over},
    )
    yield _unknown(found, listed, now)
    yield _by_log(
        "tailrace_source_removed_timestamp_seconds", "When the log was removed from sources.yaml.", over
    )


def job_metrics(jobs: Mapping[str, Callable[[str], dict]]) -> Iterator[Metric]:
    """Yields the metrics of checkpoints. `jobs`: by name, a function that queries a path of Flink's REST
    API."""
    up = GaugeMetricFamily("tailrace_job_up", "Whether the job runs.", labels=["job"])
    age = GaugeMetricFamily(
        "tailrace_checkpoint_age_seconds",
        "Time since the newest completed checkpoint, or since the job's start.",
        labels=["job"],
    )
    failed = GaugeMetricFamily(
        "tailrace_checkpoints_failed", "Checkpoints that failed since the job's start.", labels=["job"]
    )
    size = GaugeMetricFamily(
        "tailrace_checkpoint_bytes", "Size of the newest completed checkpoint.", labels=["job"]
    )
    for name, ask in jobs.items():
        running = 0
        with suppress(OSError, ValueError, KeyError):
            job = max(ask("/jobs/overview")["jobs"], key=lambda each: each["start-time"])
            checkpoints = ask(f"/jobs/{job['jid']}/checkpoints")
            newest = checkpoints["latest"]["completed"] or {}
            since = newest.get("latest_ack_timestamp", job["start-time"])
            age.add_metric([name], max(0, time.time() - since / 1000))
            failed.add_metric([name], checkpoints["counts"]["failed"])
            if newest:
                size.add_metric([name], newest["state_size"])
            running = job["state"] == "RUNNING"
        up.add_metric([name], running)
    return iter((up, age, failed, size))


def _by_log(name: str, text: str, values: Mapping[Log, float]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=OF_LOGS)
    _add_all(family, values)
    return family


def _dead_letters(rows: Iterable[Row], recent_seconds: int) -> Metric:
    dead = GaugeMetricFamily(
        "tailrace_recent_dead_letters",
        f"Dead letters of the last {recent_seconds / 60:g} minutes that no backfill has replaced.",
        labels=[*OF_LOGS, "code"],
    )
    for row in rows:
        dead.add_metric([row["instance"], row["source"], row["code"]], row["letters"])
    return dead


def _without_census(clickhouse: ClickHouse) -> dict[Log, float]:
    """Returns the first time of lines of logs without any census, in seconds since 1970 UTC."""
    oldest = datetime.now(UTC) - timedelta(seconds=FORGOTTEN_SECONDS)
    query = text_of("ledger_without_census")
    rows = clickhouse.rows(query, {"oldest": f"{oldest:%Y-%m-%d %H:%M:%S}"}, timeout=10)
    return {(row["instance"], row["source"]): row["since"] for row in rows}


def removed_sources(newest: Mapping[Log, float], left: Mapping[Log, float]) -> dict[Log, float]:
    """Returns those of the logs left without a later census: another collector may watch the others."""
    return {log: left[log] for log, at in newest.items() if log in left and at <= left[log]}


def _newest_censuses(found: LedgerBalance, now: float) -> dict[Log, float]:
    """Returns the time of each log's last census, in seconds since 1970 UTC, without logs that are too
    old."""
    censuses = [((a.file.instance, a.file.source), a.census_at) for a in found.accounts]
    censuses += [((f.instance, f.source), f.census_at) for f in found.unread]
    return {log: at for log, at in _greatest(censuses).items() if now - at < FORGOTTEN_SECONDS}


def _lag(newest: Mapping[Log, float], unseen: Mapping[Log, float], now: float) -> Metric:
    lag = GaugeMetricFamily(
        "tailrace_lag_seconds",
        "Age of the newest census, or of the first line if there is no census.",
        labels=OF_LOGS,
    )
    _add_all(lag, {log: now - at for log, at in (*newest.items(), *unseen.items())})
    return lag


def _unknown(found: LedgerBalance, listed: Mapping[LogKey, float], now: float) -> Metric:
    """Returns the time without any census. A log whose censuses ended lags instead, and is later dropped."""
    unknown = GaugeMetricFamily(
        "tailrace_census_missing_seconds",
        "Time for which a log is listed or read without any census.",
        labels=[*OF_LOGS, "log"],
    )
    for log in found.unknown:
        key = (log.instance, log.source, log.log)
        if not log.census_at and (key in listed or now - log.read_at < FORGOTTEN_SECONDS):
            unknown.add_metric(list(key), max(0.0, now - log.since_at))
    return unknown


BYTES = MappingProxyType(
    {
        "tailrace_behind_bytes": "Bytes that a census recorded and that are not read yet.",
        "tailrace_pending_bytes": "Bytes of incomplete entries.",
        "tailrace_gap_bytes": "Bytes in open gaps.",
        "tailrace_gap_lost_bytes": "Bytes in open gaps that the automatic repair cannot fill.",
        "tailrace_gap_repaired_bytes": "Bytes that the automatic repair has filled.",
    }
)


def _sums(found: LedgerBalance) -> Iterator[Metric]:
    """Yields the sums of bytes of each log; every log of the ledger has all of them."""
    sums: dict[str, Counter[Log]] = {name: Counter() for name in BYTES}
    for name, log, amount in _amounts(found):
        sums[name][log] += amount
    logs = {log for of_name in sums.values() for log in of_name}
    for name, text in BYTES.items():
        yield _by_log(name, text, {log: sums[name][log] for log in sorted(logs)})


def _amounts(found: LedgerBalance) -> Iterator[tuple[str, Log, int]]:
    for account in found.accounts:
        log = account.file.instance, account.file.source
        yield "tailrace_behind_bytes", log, account.behind
        yield "tailrace_pending_bytes", log, account.pending
    for file in found.unread:
        yield "tailrace_behind_bytes", (file.instance, file.source), file.size
    for gap in found.gaps:
        log = gap.file.instance, gap.file.source
        yield "tailrace_gap_bytes", log, gap.bytes
        yield "tailrace_gap_lost_bytes", log, gap.bytes if found.loss(gap) else 0
    for repair in found.repairs:
        if repair.state == "repaired":
            yield "tailrace_gap_repaired_bytes", (repair.file.instance, repair.file.source), repair.bytes


def _greatest(pairs: Iterable[tuple[Log, float]]) -> dict[Log, float]:
    greatest: dict[Log, float] = {}
    for key, value in pairs:
        greatest[key] = max(value, greatest.get(key, value))
    return greatest


def _add_all(family: GaugeMetricFamily, values: Mapping[Log, float]) -> None:
    for labels, value in values.items():
        family.add_metric(labels, max(0.0, value))


def rest_client(address: str) -> Callable[[str], dict]:
    """Returns a function that queries the REST interface without a client certificate. It raises OSError,
    ValueError."""
    return partial(_ask, address)


def _ask(address: str, path: str) -> dict:
    with urllib.request.urlopen(f"{address}{path}", timeout=REST_SECONDS) as answer:
        return json.load(answer)
