"""Finds out why a log cannot be read from its service: its settings there, and the permissions of this
machine's credentials. Changes nothing."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tailrace_capture import secret_file
from tailrace_pull import aws, kafka_hub, otlp_check, otlp_topic
from tailrace_pull.cloudwatch import GROUPS
from tailrace_pull.config import CLOUDWATCH, HUB, OBJECTS, OTLP, TABLE, Clients, Entry
from tailrace_pull.kafka_topic import KafkaTopic
from tailrace_pull.object_store import RIGHTS
from tailrace_pull.plural import counted
from tailrace_pull.rds import RdsLogs
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError
from tailrace_pull.state import LogState

GUIDE = "docs/PULL.md"
OBJECT_RIGHTS = {right for rights in RIGHTS.values() for right in rights.values()}
ON = ("1", "ON")
HOUR_MILLIS = 3_600_000
MIN_RETENTION_MILLIS = 24 * HOUR_MILLIS
"""A topic that keeps messages for less loses some if the puller is stopped over night."""
OTLP_GUIDE = f"{GUIDE}#opentelemetry-collector"
RECORDS_GUIDE = f"{GUIDE}#statements-from-performance-schema"
SWITCHES = {"slowlog": "slow_query_log", "general": "general_log"}
"""The parameter that turns a kind of log on. Error logs are always on; audit logs need a plugin."""


@dataclass(frozen=True)
class Found:
    """One result of a check."""

    severity: str
    """error; warning; unknown if it could not be checked; ok."""
    message: str
    fix: str = ""


def check(entry: Entry, clients: Clients) -> Iterator[Found]:
    """Yields what was found about a log."""
    name = f"{entry.instance} {entry.source}"
    exposed = (Found("warning", *each) for each in exposed_secrets(entry))
    for found in itertools.chain(_found(entry, clients), exposed):
        yield Found(found.severity, f"{name}: {found.message}", found.fix)


def exposed_secrets(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yields a problem and its fix for each file with a password that every user of this machine can read."""
    for file in filter(None, (entry.defaults_file, entry.connection_file)):
        if found := secret_file.warning(Path(file)):
            yield found


def _found(entry: Entry, clients: Clients) -> Iterator[Found]:
    if entry.kind == TABLE:
        return _guarded(_read_table(entry, clients), partial(_fix_of_table, entry))
    if entry.kind == OBJECTS:
        return _guarded(_read_objects(entry, clients))
    if entry.kind == HUB:
        return _guarded(_read_hub(entry, clients))
    if entry.kind == OTLP:
        return _guarded(_read_otlp(entry, clients), _fix_of_otlp)
    read = _read_cloudwatch if entry.kind == CLOUDWATCH else _read_rds
    return itertools.chain(_guarded(read(entry, clients)), _settings(entry, clients))


def _guarded(checks: Iterator[Found], fix: Callable[[RemoteError], str] | None = None) -> Iterator[Found]:
    """Yields the results; an error of the service ends them and is the last one. `fix` says how to correct
    an error."""
    try:
        yield from checks
    except RemoteError as error:
        yield Found("error", str(error), (fix or _fix)(error))


def _fix_of_table(entry: Entry, error: RemoteError) -> str:
    if error.right.endswith(";"):
        return f"on the server: {error.right}  {GUIDE}#log-tables"
    return f"correct {entry.defaults_file}, or the account on the server: {GUIDE}#log-tables"


def _fix_of_otlp(error: RemoteError) -> str:
    if error.right == otlp_topic.RIGHT:
        return f"grant the account {error.right} on the topic: {OTLP_GUIDE}"
    if isinstance(error, PermissionMissingError):
        return f"correct the login in `connection_file`: {OTLP_GUIDE}"
    return f"check `url`, `connection_file` and network: {OTLP_GUIDE}"


def _fix(error: RemoteError) -> str:
    if error.right == kafka_hub.RIGHT:
        return f"use a connection string whose policy has {error.right}: {GUIDE}#permissions-for-event-hubs"
    if isinstance(error, PermissionMissingError):
        section = "permissions-for-objects" if error.right in OBJECT_RIGHTS else "permissions"
        return f"add {error.right or 'valid credentials'}: {GUIDE}#{section}"
    return f"check region, endpoint and network: {GUIDE}#list-the-logs"


def _read_table(entry: Entry, clients: Clients) -> Iterator[Found]:
    clients.logs(entry).visit(LogState(), itertools.count(1).__next__, time.time(), 1)
    yield Found("ok", f"{entry.log().live_path} can be read")


def _read_objects(entry: Entry, clients: Clients) -> Iterator[Found]:
    """Lists the objects, and reads the last one that is not empty."""
    store = clients.store(entry)
    last = max((each for each in store.objects() if each.size), key=lambda each: each.modified, default=None)
    if last is None:
        fix = f"correct `url`, or let the cloud export the log there: {GUIDE}#objects"
        yield Found("error", f"there is no object below {entry.url}", fix)
        return
    store.read(last, 0, 1)
    yield Found("ok", f"{last.name} can be read")


def _read_hub(entry: Entry, clients: Clients) -> Iterator[Found]:
    """Asks for the partitions of the hub, and how long it keeps messages."""
    hub = clients.hub(entry)
    try:
        partitions = hub.bounds()
    except FileGoneError as error:
        yield Found("error", str(error), f"correct `url`, or create the hub: {GUIDE}#azure-event-hubs")
        return
    yield _readable(entry.url, len(partitions))
    yield _retention_of(hub, entry.url, "hub")


def _read_otlp(entry: Entry, clients: Clients) -> Iterator[Found]:
    """Asks for the partitions of the topic and how long it keeps messages, and reads its last messages."""
    topic, wanted = clients.topic(entry), clients.attributes(entry)
    try:
        bounds = topic.bounds()
    except FileGoneError as error:
        yield Found("error", str(error), f"correct `url`, or create the topic: {OTLP_GUIDE}")
        return
    yield _readable(entry.url, len(bounds))
    found = otlp_check.sample(topic, bounds, wanted, entry.is_of_records)
    yield from _selected(entry, found)
    yield from _of_records(found) if entry.is_of_records else _of_lines(entry, found, len(bounds))
    yield _retention_of(topic, entry.url, "topic")


def _selected(entry: Entry, found: otlp_check.Sample) -> Iterator[Found]:
    if not found.records:
        yield Found(
            "unknown", f"{entry.url} has no records yet", f"let the Collector send logs: {OTLP_GUIDE}"
        )
    elif not found.selected:
        message = (
            f"`match` selects none of the last {counted(found.records, 'record')}: {found.found_attributes()}"
        )
        yield Found("unknown", message, f"correct `match`, or let the Collector send the log: {OTLP_GUIDE}")
    else:
        yield Found("ok", f"records of this log: {found.selected} of the last {found.records}")


def _of_records(found: otlp_check.Sample) -> Iterator[Found]:
    """Records from Performance Schema."""
    if found.unreadable:
        reasons = otlp_check.named(found.unreadable)
        message = f"{found.unreadable.total()} of the last records are not in the published form: {reasons}"
        yield Found("error", message, f"compare the version of the sender: {RECORDS_GUIDE}")
    if found.used:
        yield Found("ok", f"used: {otlp_check.named(found.used)}")
    elif found.selected:
        message = "none of these records is used"
        fix = f"turn on db.server.top_query and db.server.query_sample: {RECORDS_GUIDE}"
        yield Found("unknown", message, fix)
    if found.ignored:
        yield Found("ok", f"counted only: {otlp_check.named(found.ignored)}")


def _of_lines(entry: Entry, found: otlp_check.Sample, partitions: int) -> Iterator[Found]:
    if found.unreadable:
        reasons = otlp_check.named(found.unreadable)
        message = f"{found.unreadable.total()} of the last records are a gap each: {reasons}"
        yield Found("error", message, f"select records of `filelog` only: {OTLP_GUIDE}")
    if found.events:
        yield Found("ok", f"events that are not read: {otlp_check.named(found.events)}")
    if entry.source == "slowlog" and partitions > 1 and found.selected and found.lines == found.selected:
        message = f"each record is one line, and the topic has {partitions} partitions: entries may be mixed"
        yield Found("error", message, f"set `multiline` of `filelog`: {OTLP_GUIDE}")


def _readable(url: str, partitions: int) -> Found:
    return Found("ok", f"{url} can be read ({counted(partitions, 'partition')})")


def _retention_of(topic: KafkaTopic, url: str, noun: str) -> Found:
    try:
        return _retention(url, topic.retention_millis(), noun)
    except RemoteError as error:
        return Found("unknown", f"the retention was not checked: {error}")


def _retention(url: str, millis: int | None, noun: str) -> Found:
    if millis is None:
        return Found("unknown", f"{url} does not say how long it keeps messages")
    if 0 <= millis < MIN_RETENTION_MILLIS:
        message = (
            f"{url} keeps messages for {millis / HOUR_MILLIS:.1f} h: longer pauses of the puller are gaps"
        )
        return Found("error", message, f"set the retention of the {noun} to 24 h or more")
    kept = "permanently" if millis < 0 else f"for {millis / HOUR_MILLIS:.0f} h"
    return Found("ok", f"{url} keeps messages {kept}")


def _read_rds(entry: Entry, clients: Clients) -> Iterator[Found]:
    logs = RdsLogs(clients.client("rds", entry), entry.db_instance, entry.live_file())
    live = [file for file in logs.files() if logs.is_live(file.name)]
    if not live:
        message = f"{entry.db_instance} has no file {entry.live_file()}"
        aurora = "; Aurora: `file: audit/audit.log.*`" if entry.source == "audit" and not entry.file else ""
        on = "" if entry.source == "errorlog" else "turn the log on, or "  # an error log is always on
        yield Found("error", message, f"{on}correct `file`{aurora}: {GUIDE}#list-the-logs")
        return
    logs.read(live[0].name, "", 1)
    yield Found("ok", f"{live[0].name} can be read")


def _read_cloudwatch(entry: Entry, clients: Clients) -> Iterator[Found]:
    group, stream = entry.group(), entry.stream or entry.db_instance
    asked = {"logGroupName": group, "logStreamNamePrefix": stream, "limit": 1}
    try:
        aws.ask(clients.client("logs", entry), "FilterLogEvents", group, **asked)
    except FileGoneError:
        fix = f"publish the log to CloudWatch Logs, or correct `log_group`: {GUIDE}#list-the-logs"
        yield Found("error", f"there is no log group {group}", fix)
        return
    yield Found("ok", f"the log group {group} can be read")


def _settings(entry: Entry, clients: Clients) -> Iterator[Found]:
    """Checks what the service says about the server. The puller does without these permissions."""
    client = clients.client("rds", entry)
    try:
        found = aws.ask(
            client, "DescribeDBInstances", entry.db_instance, DBInstanceIdentifier=entry.db_instance
        )["DBInstances"]
        yield from _exports(entry, found[0]) if entry.kind == "cloudwatch" else ()
        for group in found[0].get("DBParameterGroups", ()):
            yield from _parameters(entry, client, group)
    except PermissionMissingError as error:
        right = error.right or "valid credentials"
        yield Found("unknown", f"settings were not checked: {error}", f"optional: add {right}")
    except RemoteError as error:
        yield Found("unknown", f"settings were not checked: {error}")


def _exports(entry: Entry, instance: dict[str, Any]) -> Iterator[Found]:
    """Checks that RDS publishes the log, unless the list names another group than that of RDS."""
    kind, exported = GROUPS[entry.source], instance.get("EnabledCloudwatchLogsExports", ())
    if kind in exported:
        yield Found("ok", f"{entry.db_instance} publishes {kind} to CloudWatch Logs")
    elif not entry.log_group:
        message = f"{entry.db_instance} does not publish {kind} to CloudWatch Logs"
        yield Found("error", message, f"modify the DB instance: log exports, {kind}")


def _parameters(entry: Entry, client: Any, group: dict[str, Any]) -> Iterator[Found]:
    switch = SWITCHES.get(entry.source)
    if switch is None:
        return
    name = group["DBParameterGroupName"]
    values = _values(client, name)
    yield _switch(switch, values.get(switch), name)
    yield _output(values.get("log_output"), name)
    if group.get("ParameterApplyStatus", "in-sync") != "in-sync":
        message = f"changes of parameter group {name} are not applied: {group['ParameterApplyStatus']}"
        yield Found("error", message, "reboot the DB instance")


def _switch(name: str, value: str | None, group: str) -> Found:
    if value is not None and value.upper() in ON:
        return Found("ok", f"{name} is {value} in parameter group {group}")
    state = "not set" if value is None else "OFF"
    return Found("error", f"{name} is {state} in parameter group {group}", f"set {name} to 1 there")


def _output(value: str | None, group: str) -> Found:
    if value is None:  # the default depends on the version
        return Found("unknown", f"log_output is not set in parameter group {group}", "set it to FILE there")
    if "FILE" in value.upper().split(","):
        return Found("ok", f"log_output is {value} in parameter group {group}")
    return Found("error", f"log_output is {value} in parameter group {group}", "set it to FILE there")


def _values(client: Any, group: str) -> dict[str, str]:
    """Returns the values of the parameters that are set."""
    values: dict[str, str] = {}
    page: dict[str, str] = {}
    while True:
        answer = aws.ask(client, "DescribeDBParameters", group, DBParameterGroupName=group, **page)
        for each in answer.get("Parameters", ()):
            if each.get("ParameterValue") is not None:
                values[each["ParameterName"]] = each["ParameterValue"]
        if not answer.get("Marker"):
            return values
        page = {"Marker": answer["Marker"]}
