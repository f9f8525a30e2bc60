"""Problems of a server's logging and their fixes, as `tailrace doctor` reports them.

The checks read the settings of the last snapshot. A source without a problem has no finding.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tailrace.plural import counted
from tailrace.sources import log_fixes
from tailrace_capture.doctor import audit_settings, logging_checks
from tailrace_capture.doctor.accounts import grants_for
from tailrace_capture.doctor.finding import ERROR, INFO, OK, WARNING, Finding
from tailrace_capture.doctor.logging_checks import CapturedState
from tailrace_capture.product import Product, product_of
from tailrace_pages import formats

ACCOUNT = "'tailrace'@'%'"
"""The account of the grants in fixes."""
DOCTOR = ("tailrace doctor --server mysql://tailrace@HOST/",)
AUDITING = ("audit", "auditing")
NO_AUDIT_LOG = (
    "no audit log of this server is known to Tailrace: sources.yaml lists none, and none arrived in 7 days"
)
WRITES_UNKNOWN = "whether the server writes one is unknown: no snapshot contains the setting"
ADDED = "if the server writes no audit log, these lines add one"
NO_SETTINGS = "the settings of this server are unknown: no snapshot contains them"
NO_STATE = "the state of auditing is unknown: no snapshot contains it"
PROBLEMS = (ERROR, WARNING)
"""Severities that count as problems; INFO does not."""
HIDDEN = {
    "audit": "The roles compliance and security see the settings of auditing.",
    "errorlog": "The roles compliance and security see the settings of the error log.",
}

Row = Mapping[str, Any]


def product(snapshots: Sequence[Row]) -> Product | None:
    """Returns the product and the version of the latest snapshot; None without a successful one."""
    known = [row for row in snapshots if row["product"]]
    if not known:
        return None
    latest = max(known, key=lambda row: row["snapshot_at"])
    return product_of(latest["version"], latest["product"])


def state_of(its_product: Product | None, settings: Sequence[Row]) -> CapturedState | None:
    """Returns the state of a server; None if its settings are unknown."""
    facts = {(row["kind"], row["key"]): dict(row["attributes"]) for row in settings}
    variables = {key: each.get("value", "") for (kind, key), each in facts.items() if kind == "settings"}
    if its_product is None or "slow_query_log" not in variables:
        return None
    for (kind, _), attributes in facts.items():
        if kind == "server":
            variables = {**attributes, **variables}
    return CapturedState(its_product, variables, facts)


def slow_state_of(its_product: Product | None, settings: Mapping[str, str]) -> CapturedState | None:
    """Returns the state with the settings of the slow log only; None if they are unknown."""
    known = {name: value for name, value in settings.items() if value}
    if its_product is None or "slow_query_log" not in known:
        return None
    return CapturedState(its_product, known)


def of_log(source: str, state: CapturedState | None, sees_all: bool, is_read: bool = False) -> list[Finding]:
    """Returns the problems of the server's settings for a kind of log.

    Parameters
    ----------
    sees_all : whether the viewer's audience may read all settings
    is_read : whether a log of this kind is read; then standard error leads to it, as with mysqld_safe
    """
    if source == "general":
        return []
    if source != "slowlog" and not sees_all:
        return [Finding(INFO, source, HIDDEN[source])]
    if state is None:
        return [Finding(INFO, source, NO_SETTINGS, DOCTOR)]
    if source == "audit" and AUDITING not in state.facts:
        steps = grants_for(state.product, ACCOUNT)["audit"] or DOCTOR
        return [Finding(WARNING, source, NO_STATE, steps)]
    checks = {
        "slowlog": logging_checks.slow_log,
        "audit": logging_checks.audit_log,
        "errorlog": logging_checks.error_log,
    }
    refuted = {logging_checks.STANDARD_ERROR} if is_read else set()
    found = checks[source](state)
    return [each for each in found if each.severity != OK and each.message not in refuted]


def not_watched(source: str, instance: str, cluster: str, state: CapturedState | None) -> Iterator[Finding]:
    """Yields the entry of sources.yaml for a log that the server writes and that nobody reads."""
    if state is not None and (path := path_of(source, state)):
        text = f"the server writes {path}, and sources.yaml does not list it"
        yield Finding(WARNING, source, text, log_fixes.entry(instance, cluster, source, path))


def not_audited(seen: Sequence[Finding]) -> list[Finding]:
    """Returns `seen`, the findings about an audit log that nobody knows, with this problem.

    It replaces findings that only say that the settings are unknown. If `seen` has the reason, nothing
    changes.
    """
    unknown = [each for each in seen if each.message in (NO_SETTINGS, NO_STATE)]
    known = [each for each in seen if each not in unknown]
    if any(each.severity in PROBLEMS for each in known):
        return list(seen)
    text = f"{NO_AUDIT_LOG}; {WRITES_UNKNOWN}" if unknown else NO_AUDIT_LOG
    return [Finding(WARNING, "audit", text, unknown[0].fix if unknown else DOCTOR), *known]


def with_audit_log(
    seen: Sequence[Finding],
    logs: Sequence[Row],
    whose: tuple[str, str],
    its_product: Product | None,
    state: CapturedState | None,
) -> list[Finding]:
    """Returns `seen` with the lines that add an audit log and its entry of sources.yaml, unless the server is
    known to have one.

    Parameters
    ----------
    logs : the logs of the server that are read
    whose : instance and cluster
    its_product, state : None if they are unknown
    """
    auditing = state.fact(*AUDITING) if state else {}
    if auditing.get("active") == "yes" or auditing.get("switched_off_by") or auditing.get("other_plugins"):
        return list(seen)
    if its_product is None:
        lines = (*audit_settings.of_each_product(), "", *log_fixes.entry(*whose, "audit", "PATH"))
        return [*seen, Finding(INFO, "audit", f"{ADDED}, by product", lines)]
    log = audit_settings.audit_log(its_product, (state and state.variable("datadir")) or audit_settings.DATA)
    if any(each["source"] == log.source for each in logs):
        return list(seen)
    entry = log_fixes.entry(*whose, log.source, log.path)
    if any(each.message == logging_checks.NOT_LOGGED for each in seen):
        return [replace(each, fix=(*each.fix, *entry)) if each.fix == log.lines else each for each in seen]
    return [*seen, Finding(INFO, "audit", ADDED, (*log.lines, *entry))]


def slow_log_text(state: CapturedState | None) -> str | None:
    """Returns whether slow statements are logged and from which time on; None if this is unknown."""
    if state is None:
        return None
    if not state.is_on("slow_query_log"):
        return "off (slow_query_log = OFF)"
    seconds = state.variable("log_slow_query_time", "long_query_time")
    threshold = f"{float(seconds):g} s" if seconds else formats.UNKNOWN
    return f"on (slow_query_log = ON), threshold {threshold} (long_query_time)"


def path_of(source: str, state: CapturedState) -> str:
    """Returns the file of a log that is on; empty if it is off, no file, or unknown."""
    to_file = "FILE" in state.variable("log_output").upper()
    auditing = state.fact(*AUDITING)
    error_file = state.variable("log_error")
    files = {
        "slowlog": state.variable("slow_query_log_file") if to_file and state.is_on("slow_query_log") else "",
        "general": state.variable("general_log_file") if to_file and state.is_on("general_log") else "",
        "errorlog": "" if error_file.endswith("stderr") else error_file,
        "audit": auditing.get("file", "") if auditing.get("active") == "yes" else "",
    }
    file = files[source]
    return os.path.join(state.variable("datadir"), file) if file else ""


def of_transport(source: str, logs: Iterable[Row]) -> Iterator[Finding]:
    """Yields the problems between the file and ClickHouse: a missing census, unread bytes."""
    for log in logs:
        if log["state"] == "silent":
            text = f"{log['log']}: no census since {log['census_at']:%Y-%m-%d %H:%M} UTC"
            yield Finding(ERROR, source, text, (log_fixes.INCOMPLETE_CENSUS,))
        elif log["state"] == "behind":
            text = f"{log['log']}: {counted(log['unread_bytes'], 'unread byte')}"
            yield Finding(WARNING, source, text, ("tailrace status", "tailrace logs flink"))


def of_listed(source: str, entries: Iterable[Row]) -> Iterator[Finding]:
    """Yields a problem for each entry of sources.yaml of which nothing arrived for a week."""
    for entry in entries:
        if source == "snapshots":
            listed, what = "the server is listed in sources.yaml", "no snapshot of it ever arrived"
        else:
            listed, what = f"{entry['log'] or 'a log'} is listed in sources.yaml", "it never sent anything"
        if last := entry["last_arrived_at"]:
            text = f"{listed}, and nothing arrived since {last:%Y-%m-%d %H:%M} UTC"
        else:
            text = f"{listed} since {entry['listed_since']:%Y-%m-%d %H:%M} UTC, and {what}"
        yield Finding(ERROR, source, text, _steps(source, entry))


def _steps(source: str, entry: Row) -> tuple[str, ...]:
    if source == "snapshots":
        return ("tailrace doctor", "tailrace logs capture")
    if not entry["log"]:
        return ("tailrace doctor", "tailrace logs pull")
    return ("tailrace doctor", log_fixes.ABSENT, log_fixes.NOT_READABLE)


def of_snapshots(instance: str, cluster: str, snapshots: Sequence[Row]) -> Iterator[Finding]:
    """Yields the problems of snapshots: none at all, old ones, and kinds that the server refuses."""
    if not snapshots:
        text = "no snapshot: accounts, privileges and settings of this server are unknown"
        yield Finding(WARNING, "snapshots", text, log_fixes.server_entry(instance, cluster))
        return
    if any(row["is_silent"] for row in snapshots):
        latest = max(row["snapshot_at"] for row in snapshots)
        text = f"no snapshot since {latest:%Y-%m-%d %H:%M} UTC"
        yield Finding(ERROR, "snapshots", text, ("tailrace status", "tailrace logs capture"))
    its_product = product(snapshots)
    needed = grants_for(its_product, ACCOUNT) if its_product else {}
    for row in snapshots:
        if row["status"] == "denied":
            yield Finding(WARNING, "snapshots", f"{row['kind']}: denied", needed.get(row["kind"], ()))
        elif row["status"] not in ("ok", "absent"):
            yield Finding(WARNING, "snapshots", f"{row['kind']}: {row['status']}: {row['error']}")
