"""`python -m tailrace_capture` (console command tailrace-capture): looks at database servers from beside
them.

snapshots   what servers say of themselves, into an hourly spool that Fluent Bit ships
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace_capture import targets
from tailrace_capture.service import PROGRAM, Rhythm, Service, say
from tailrace_capture.targets import ConfigurationError


def main(words: Sequence[str] | None = None) -> int:
    """Exit codes: 0 stopped or done, 1 something could not be asked or written, 2 wrong usage."""
    arguments = _parser().parse_args(words)
    try:
        return arguments.run(arguments)
    except ConfigurationError as error:
        say(str(error))
        return 2


def entry() -> None:
    """The console command."""
    sys.exit(main())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_snapshots(commands.add_parser("snapshots", help="look at servers and write what they say"))
    return parser


def _add_snapshots(parser: argparse.ArgumentParser) -> None:
    _add_servers_and_spool(parser)
    rhythm = Rhythm()
    parser.add_argument("--poll", type=float, default=rhythm.poll, metavar="SECONDS", help="default: 60")
    parser.add_argument("--full", type=float, default=rhythm.full, metavar="SECONDS", help="default: 3600")
    parser.add_argument("--once", action="store_true", help="take one look and exit")
    parser.set_defaults(run=_snapshots)


def _add_servers_and_spool(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--servers", type=Path, metavar="FILE", help="JSON list; else by environment")
    parser.add_argument(
        "--spool",
        type=Path,
        metavar="DIRECTORY",
        default=os.environ.get("TAILRACE_CAPTURE_SPOOL"),
        help="where the spool files go (default: TAILRACE_CAPTURE_SPOOL)",
    )
    parser.add_argument(
        "--state",
        type=Path,
        metavar="DIRECTORY",
        default=os.environ.get("TAILRACE_CAPTURE_STATE"),
        help="what was seen last (default: TAILRACE_CAPTURE_STATE)",
    )
    parser.add_argument("--beat", type=Path, metavar="FILE", help="file that is written after every look")


def _snapshots(arguments: argparse.Namespace) -> int:
    service = Service(*_places(arguments), Rhythm(arguments.poll, arguments.full), arguments.beat)
    if arguments.once:
        return 0 if service.once() else 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: service.stop())
    service.run()
    return 0


def _places(arguments: argparse.Namespace) -> tuple[list[targets.Target], Path, Path]:
    """The servers, the spool and the state."""
    if not arguments.spool or not arguments.state:
        raise ConfigurationError("--spool and --state, or their variables, are needed")
    found = (
        targets.from_file(arguments.servers) if arguments.servers else targets.from_environment(os.environ)
    )
    return found, Path(arguments.spool), Path(arguments.state)


if __name__ == "__main__":
    entry()
