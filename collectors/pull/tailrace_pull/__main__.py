"""`python -m tailrace_pull`: pulls logs of managed servers into Kafka until SIGTERM, or once into a
directory."""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tailrace_pull.config import Clients, ConfigurationError, Entry, load
from tailrace_pull.once import Directory
from tailrace_pull.service import Service, Sink, Watch
from tailrace_pull.shipping import FencedError, Shipper, ShippingError, UnknownOutcomeError
from tailrace_pull.signing import RoundSigner
from tailrace_pull.state import LogState, StateError
from tailrace_signing.keys import KeyFileError


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 stopped, or everything downloaded; 1 a log could not be read, or Kafka not be reached;
    2 the list is invalid."""
    options = _options(arguments)
    try:
        entries = load(options.logs)
        return _run(entries, options) if options.command == "run" else _once(entries, options)
    except (ConfigurationError, KeyFileError) as error:
        report(str(error))
        return 2
    except (ShippingError, UnknownOutcomeError, FencedError, StateError, OSError) as error:
        report(str(error))
        return 1


def report(message: str) -> None:
    print(f"pull: {message}", file=sys.stderr, flush=True)


def _run(entries: list[Entry], options: argparse.Namespace) -> int:
    signer = RoundSigner(options.host or f"pull-{options.name}", options.key) if options.key else None
    shipper = Shipper(_kafka(options), options.name, signer)
    service = _service(entries, shipper, shipper.states())
    since = time.time()
    service.run(lambda watches: _write_heartbeat(options.heartbeat_file, watches, since))
    options.heartbeat_file.unlink(missing_ok=True)  # a puller that was stopped misses nothing
    return 0


def _once(entries: list[Entry], options: argparse.Namespace) -> int:
    failed: list[Watch] = []
    service = _service(entries, Directory(options.directory), {})

    def stop_at_failure(watches: Sequence[Watch]) -> None:
        failed[:] = [watch for watch in watches if watch.problem]
        if failed:
            service.stop()

    service.run(stop_at_failure, until_read=True)
    return 1 if failed else 0


def _service(entries: list[Entry], sink: Sink, states: dict[str, LogState]) -> Service:
    clients = Clients()
    logs = [(entry.log(), clients.logs(entry)) for entry in entries]
    watches = [Watch(log, remote, states.get(log.key, LogState())) for log, remote in logs]
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
    parser = argparse.ArgumentParser(prog="python -m tailrace_pull", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="write lines to Kafka until SIGTERM")
    once = commands.add_parser("once", help="download files into a directory")
    for each in (run, once):
        each.add_argument("--logs", type=Path, required=True, metavar="FILE", help="JSON list of the logs")
    run.add_argument(
        "--name", required=True, help="name of this puller: a second one of the name ends the first"
    )
    run.add_argument("--kafka", required=True, metavar="HOST:PORT,…")
    run.add_argument("--kafka-property", action="append", default=[], metavar="NAME=VALUE")
    run.add_argument("--kafka-password-file", type=Path, metavar="FILE")
    run.add_argument(
        "--heartbeat-file", type=Path, required=True, help="file that is written after every pass"
    )
    run.add_argument("--key", type=Path, metavar="FILE", help="sign what was received with this Ed25519 key")
    run.add_argument("--host", metavar="NAME", help="name in signatures (default: pull-NAME of the puller)")
    once.add_argument("-o", "--directory", type=Path, required=True)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
