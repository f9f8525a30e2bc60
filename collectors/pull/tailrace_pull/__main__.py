"""`python -m tailrace_pull`, or tailrace-pull: pulls logs of managed servers into Kafka until SIGTERM, or
once into a directory."""

import argparse
import dataclasses
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tailrace_capture import secret_file
from tailrace_capture.dsn import Dsn, DsnError, Password, parse, password_of
from tailrace_capture.server import Server, ServerError, connect
from tailrace_pull import importing, server_counters
from tailrace_pull.check import check, exposed_secrets
from tailrace_pull.cloudwatch import read_by_another
from tailrace_pull.config import TABLE, Clients, ConfigurationError, Entry, load
from tailrace_pull.log import PulledLog
from tailrace_pull.log_tables import SqlTables
from tailrace_pull.once import Directory
from tailrace_pull.plural import counted
from tailrace_pull.reading import VisitedLog
from tailrace_pull.remote import RemoteError
from tailrace_pull.service import Service, Sink, Watch
from tailrace_pull.shipping import FencedError, Shipper, ShippingError, UnknownOutcomeError
from tailrace_pull.signing import RoundSigner
from tailrace_pull.state import LogState, StateError
from tailrace_pull.table_reading import TableReader
from tailrace_signing.keys import KeyFileError

States = dict[str, LogState]
Logs = list[tuple[PulledLog, VisitedLog]]
INPUT_NAME = "input-name"
"""The file that tells `tailrace digest --server` how to call what was downloaded."""


OBJECTS_OF_A_PAGE = 50_000
"""How many new objects the garbage collector waits for. The default, 700, lets it search the events of a page
again and again, which hold no cycles: a fifth of the CPU time of a log of CloudWatch Logs."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 stopped, or everything downloaded; 1 a log could not be read, or Kafka not be reached;
    2 the list is invalid."""
    gc.set_threshold(OBJECTS_OF_A_PAGE)
    options = _options(arguments)
    try:
        return COMMANDS[options.command](options)
    except (ConfigurationError, DsnError, KeyFileError, ValueError) as error:
        report(str(error))
        return 2
    except (ShippingError, UnknownOutcomeError, FencedError, StateError, OSError) as error:
        report(str(error))
        return 1


def report(message: str) -> None:
    print(f"pull: {message}", file=sys.stderr, flush=True)


def _listed(options: argparse.Namespace, states: States) -> Logs:
    """Returns the logs of --logs. Raises ConfigurationError."""
    clients = Clients()
    entries = load(options.logs)
    for problem, fix in dict.fromkeys(each for entry in entries for each in exposed_secrets(entry)):
        report(f"{problem}: {fix}")
    logs = [(entry.log(), entry) for entry in entries]
    return [(log, clients.logs(entry, read_by_another(log, states))) for log, entry in logs]


def _server(options: argparse.Namespace, dsn: Dsn, password: Password) -> Logs:
    """Returns the slow log of the server of --server."""
    entry = Entry("server", "server", "slowlog", TABLE, defaults_file="-")
    options.directory.mkdir(parents=True, exist_ok=True)
    (options.directory / INPUT_NAME).write_text(f"log tables mysql.slow_log of {dsn.where}")
    return [(entry.log(), TableReader(SqlTables(lambda: (dsn, password), entry.source)))]


def _run(options: argparse.Namespace) -> int:
    signer = RoundSigner(options.host or f"pull-{options.name}", options.key) if options.key else None
    shipper = Shipper(_kafka(options), options.name, signer)
    states = shipper.states()
    service = _service(_listed(options, states), shipper, states)
    since = time.time()
    service.run(lambda watches: _write_heartbeat(options.heartbeat_file, watches, since))
    options.heartbeat_file.unlink(missing_ok=True)  # a puller that was stopped misses nothing
    return 0


def _once(options: argparse.Namespace) -> int:
    if not options.server:
        return _download(_listed(options, {}), options)
    seconds = server_counters.seconds_of(options.seconds) if options.seconds else None
    dsn, password = parse(options.server), password_of(options.password_file, ask=True)
    if options.password_file and (exposed := secret_file.warning(options.password_file)):
        report(": ".join(exposed))
    try:
        server = connect(dsn, password, server_counters.STATEMENT_SECONDS, "tailrace-pull")
        via = options.via or _way(server, seconds)
        if via == server_counters.LOG_TABLES and seconds is None:
            return _download(_server(options, dsn, password), options)
        if via == server_counters.LOG_TABLES:
            raise ValueError("--for needs --via performance_schema; for log tables use --since")
        wait = partial(server_counters.wait_with_notes, report=report)
        server_counters.write(server, dsn.where, seconds, options.directory, wait)
    except (ServerError, RemoteError) as error:
        report(f"{dsn.where}: {error}" if isinstance(error, ServerError) else str(error))
        return 1
    return 0


def _way(server: Server, seconds: float | None) -> str:
    """Returns what to read if the user does not say: the log if it is in a table."""
    is_log = seconds is None and server_counters.logs_to_table(server)
    return server_counters.LOG_TABLES if is_log else server_counters.PERFORMANCE_SCHEMA


def _download(logs: Logs, options: argparse.Namespace) -> int:
    directory = Directory(options.directory)
    for log, _ in logs:
        if kept := directory.files(log):
            raise ConfigurationError(f"{kept[0]} is of an earlier run: remove it, or use another directory")
    failed: list[Watch] = []
    service = _service(logs, directory, {})

    def stop_at_failure(watches: Sequence[Watch]) -> None:
        failed[:] = [watch for watch in watches if watch.problem]
        if failed:
            service.stop()

    service.run(stop_at_failure, until_read=True)
    for log, _ in logs if not failed else ():
        if not directory.files(log):
            report(f"{log.instance} {log.source}: there is nothing to read at {log.live_path}")
    return 1 if failed else 0


def _check(options: argparse.Namespace) -> int:
    """Prints a JSON list of what was found."""
    clients = Clients()
    entries = load(options.logs)
    found = [dataclasses.asdict(each) for entry in entries for each in check(entry, clients)]
    print(json.dumps(found))
    return 1 if any(each["severity"] == "error" for each in found) else 0


def _import(options: argparse.Namespace) -> int:
    """Prints the written log files."""
    done = importing.run(options.exported, options.directory)
    for file in done.files:
        print(file)
    for problem in done.problems:
        report(problem)
    report(
        f"{counted(done.entries, 'entry', 'entries')}; left out: "
        f"{counted(done.repeated, 'repeated record')}, {done.others} of other kinds"
    )
    return 1 if done.problems else 0


COMMANDS = {"run": _run, "once": _once, "check": _check, "import": _import}


def _service(logs: Logs, sink: Sink, states: States) -> Service:
    watches = [Watch(log, visited, states.get(log.key, LogState())) for log, visited in logs]
    service = Service(watches, sink, report)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: service.stop())
    return service


def _kafka(options: argparse.Namespace) -> dict[str, object]:
    properties: dict[str, object] = dict(pair.split("=", 1) for pair in options.kafka_property)
    if options.kafka_password_file:
        properties["sasl.password"] = options.kafka_password_file.read_text().strip()
    return {**properties, "bootstrap.servers": options.kafka}


def _write_heartbeat(file: Path, watches: Sequence[Watch], since: float) -> None:
    """Replaces the file, so that a reader never sees half of it. `since`: the start of the puller, in seconds
    since 1970 UTC. A log that cannot be read is a problem of the log, not of the puller."""
    logs = [
        {
            "instance": watch.log.instance,
            "source": watch.log.source,
            "path": watch.log.live_path,
            "at": watch.visited_at,
            "bytes": watch.bytes,
            "requests": watch.meter.requests,
            "received": watch.meter.received,
            "problem": watch.problem,
            "kind": watch.problem_kind,
            "right": watch.missing_right,
        }
        for watch in watches
    ]
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps({"at": time.time(), "since": since, "problem": "", "logs": logs}))
    os.replace(draft, file)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tailrace-pull", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="write lines to Kafka until SIGTERM")
    once = commands.add_parser("once", help="download files into a directory")
    checking = commands.add_parser("check", help="print what prevents the logs from being read, as JSON")
    for each in (run, checking):
        each.add_argument("--logs", type=Path, required=True, metavar="FILE", help="JSON list of the logs")
    what = once.add_mutually_exclusive_group(required=True)
    what.add_argument("--logs", type=Path, metavar="FILE", help="JSON list of the logs")
    what.add_argument("--server", metavar="DSN", help="a server whose slow log is read from its tables")
    once.add_argument("--via", choices=server_counters.WAYS, help="what to read from --server")
    once.add_argument(
        "--for", dest="seconds", metavar="DURATION", help="count statements of --server for this time"
    )
    once.add_argument("--password-file", type=Path, metavar="FILE", help="password of --server")
    run.add_argument(
        "--name", required=True, help="name of this puller: a second one of the name ends the first"
    )
    run.add_argument("--kafka", required=True, metavar="HOST:PORT,…")
    run.add_argument("--kafka-property", action="append", default=[], metavar="NAME=VALUE")
    run.add_argument("--kafka-password-file", type=Path, metavar="FILE")
    run.add_argument(
        "--heartbeat-file", type=Path, required=True, help="file that is written after every pass"
    )
    run.add_argument("--key", type=Path, metavar="FILE", help="sign the received logs with this Ed25519 key")
    run.add_argument("--host", metavar="NAME", help="name in signatures (default: pull-NAME of the puller)")
    imported = commands.add_parser("import", help="write log files from the files that a cloud exported")
    imported.add_argument("--from", type=Path, required=True, metavar="DIRECTORY", dest="exported")
    imported.add_argument("-o", "--directory", type=Path, required=True)
    once.add_argument("-o", "--directory", type=Path, required=True)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
