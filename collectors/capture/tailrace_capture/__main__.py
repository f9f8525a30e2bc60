"""`python -m tailrace_capture`, or tailrace-capture: reads database servers over SQL.

snapshots   writes snapshots of servers to an hourly spool that Fluent Bit ships
explain     writes plans of the heaviest statements to another such spool
doctor      lists what prevents Tailrace from reading a server, with fixes
check       prints as JSON what prevents it from reading the servers of a list
classes     proposes data classes for the columns of a server
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace_capture import renamed_options, targets
from tailrace_capture.classes import command as classes
from tailrace_capture.doctor import command as doctor
from tailrace_capture.doctor import listed
from tailrace_capture.dsn import Password
from tailrace_capture.explain.samples import Samples, from_clickhouse, from_file
from tailrace_capture.explain.service import ExplainService, Limits
from tailrace_capture.renamed_options import BothGivenError
from tailrace_capture.service import PROGRAM, Schedule, Service, print_status
from tailrace_capture.targets import ConfigurationError


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command. Exit codes: 0 stopped or done, 1 a query or a write failed, 2 wrong usage."""
    parser = _parser()
    try:
        words = renamed_options.with_new_names(sys.argv[1:] if words is None else words, print_status)
    except BothGivenError as error:
        parser.error(str(error))
    arguments = parser.parse_args(words)
    try:
        return arguments.run(arguments)
    except ConfigurationError as error:
        print_status(str(error))
        return 2


def entry() -> None:
    """The console command."""
    sys.exit(main())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_snapshots(commands.add_parser("snapshots", help="write snapshots of servers"))
    _add_explain(commands.add_parser("explain", help="write the plans of the heaviest statements"))
    doctor.configure(commands.add_parser("doctor", help="list what prevents Tailrace from reading a server"))
    listed.configure(commands.add_parser("check", help="check the servers of a list, as JSON"))
    classes.configure(commands.add_parser("classes", help="propose data classes for the columns of a server"))
    return parser


def _add_snapshots(parser: argparse.ArgumentParser) -> None:
    _add_servers_and_spool(parser)
    schedule = Schedule()
    _add_seconds(parser, "--poll", schedule.poll, "pause between polls")
    _add_seconds(parser, "--full", schedule.full, "pause between full snapshots")
    parser.add_argument(
        "--heartbeat-file", type=Path, metavar="FILE", help="file that is written after every poll"
    )
    parser.add_argument("--once", action="store_true", help="poll once and exit")
    parser.set_defaults(run=_snapshots)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    _add_servers_and_spool(parser)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--samples", type=Path, metavar="FILE", help="JSON lines: query_id, database, statement"
    )
    source.add_argument("--clickhouse", metavar="URL", help="read samples from ClickHouse, as --user")
    parser.add_argument("--user", default="explain")
    parser.add_argument("--password-file", type=Path, metavar="FILE", help="password of ClickHouse's user")
    limits = Limits()
    _add_number(parser, "--max-statements", limits.statements, "statements per round")
    _add_seconds(parser, "--round", limits.round, "pause between rounds")
    _add_seconds(parser, "--interval", limits.interval, "time between two plans of a statement")
    _add_seconds(parser, "--timeout", limits.timeout, "limit of one EXPLAIN")
    _add_number(
        parser, "--max-threads-running", limits.threads_running, "no EXPLAIN above this Threads_running"
    )
    parser.add_argument(
        "--heartbeat-file", type=Path, metavar="FILE", help="file that is written after every round"
    )
    parser.add_argument("--once", action="store_true", help="run one round and exit")
    parser.set_defaults(run=_explain)


def _add_seconds(parser: argparse.ArgumentParser, option: str, default: float, purpose: str) -> None:
    text = f"{purpose} (default: {default:g})"
    parser.add_argument(option, type=float, default=default, metavar="SECONDS", help=text)


def _add_number(parser: argparse.ArgumentParser, option: str, default: int, purpose: str) -> None:
    text = f"{purpose} (default: {default})"
    parser.add_argument(option, type=int, default=default, metavar="N", help=text)


def _explain(arguments: argparse.Namespace) -> int:
    limits = Limits(
        statements=arguments.max_statements,
        round=arguments.round,
        interval=arguments.interval,
        timeout=arguments.timeout,
        threads_running=arguments.max_threads_running,
    )
    found, spool, state = _places(arguments)
    service = ExplainService(found, _samples(arguments), spool, state, limits, arguments.heartbeat_file)
    return _serve(service, arguments.once)


def _samples(arguments: argparse.Namespace) -> Samples:
    if arguments.samples:
        return from_file(arguments.samples)
    try:
        password = Password(arguments.password_file.read_text().strip() if arguments.password_file else "")
    except OSError as error:
        raise ConfigurationError(str(error)) from None
    return from_clickhouse(arguments.clickhouse, arguments.user, password)


def _serve(service: Service | ExplainService, once: bool) -> int:
    """Runs until SIGTERM, or once; returns the exit code."""
    if once:
        return 0 if service.once() else 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: service.stop())
    service.run()
    return 0


def _add_servers_and_spool(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--servers", type=Path, metavar="FILE", help="JSON list; default: the environment")
    parser.add_argument(
        "--spool",
        type=Path,
        metavar="DIRECTORY",
        default=os.environ.get("TAILRACE_CAPTURE_SPOOL"),
        help="directory of the spool files (default: TAILRACE_CAPTURE_SPOOL)",
    )
    parser.add_argument(
        "--state",
        type=Path,
        metavar="DIRECTORY",
        default=os.environ.get("TAILRACE_CAPTURE_STATE"),
        help="directory of the last known facts (default: TAILRACE_CAPTURE_STATE)",
    )


def _snapshots(arguments: argparse.Namespace) -> int:
    service = Service(*_places(arguments), Schedule(arguments.poll, arguments.full), arguments.heartbeat_file)
    return _serve(service, arguments.once)


def _places(arguments: argparse.Namespace) -> tuple[list[targets.Target], Path, Path]:
    """Returns the servers, the spool and the state."""
    if not arguments.spool or not arguments.state:
        raise ConfigurationError("--spool and --state, or their variables, are needed")
    found = (
        targets.from_file(arguments.servers) if arguments.servers else targets.from_environment(os.environ)
    )
    return found, Path(arguments.spool), Path(arguments.state)


if __name__ == "__main__":
    entry()
