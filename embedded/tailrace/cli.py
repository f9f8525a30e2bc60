"""`python -m tailrace`: parses the command line, runs one command, turns errors into exit codes."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from tailrace import __version__, jvm
from tailrace.alerts import AlertError
from tailrace.backfill import BackfillError
from tailrace.backup import BackupError
from tailrace.certificates import CertificateError
from tailrace.checkpoints import CheckpointError
from tailrace.clickhouse import ClickHouseError
from tailrace.commands import (
    CommandError,
    Context,
    alerts,
    backfill,
    backup,
    books,
    credentials,
    dashboards,
    demo,
    doctor,
    down,
    evidence,
    health,
    java,
    logs,
    migrate,
    reports,
    restart,
    restore,
    review,
    rewind,
    rules_push,
    savepoint,
    settings,
    status,
    up,
)
from tailrace.configuration import ConfigurationError
from tailrace.dashboards import AssetError
from tailrace.evidence.reviews import ReviewError
from tailrace.exits import Exit
from tailrace.home import Home
from tailrace.migrations import MigrationError
from tailrace.preflight import PreflightError
from tailrace.retention import RetentionError
from tailrace.rules import RulesError
from tailrace.settings import Settings, SettingsError
from tailrace.sources import SourcesError
from tailrace.stack.bringup import StartError
from tailrace.stack.control import NotRunningError, RefusedError
from tailrace.stack.daemon import DaemonError
from tailrace.stack.part import InstallError
from tailrace.stack.supervisor import AlreadyRunningError
from tailrace.superset import SupersetError

COMMANDS: dict[str, ModuleType] = {
    "demo": demo,
    "up": up,
    "down": down,
    "status": status,
    "health": health,
    "restart": restart,
    "logs": logs,
    "books": books,
    "alerts": alerts,
    "reports": reports,
    "review": review,
    "evidence": evidence,
    "backfill": backfill,
    "credentials": credentials,
    "dashboards": dashboards,
    "savepoint": savepoint,
    "rewind": rewind,
    "backup": backup,
    "restore": restore,
    "migrate": migrate,
    "settings": settings,
}

FAILURES = (
    AlertError,
    AlreadyRunningError,
    AssetError,
    BackfillError,
    BackupError,
    CertificateError,
    CheckpointError,
    ClickHouseError,
    CommandError,
    DaemonError,
    InstallError,
    MigrationError,
    PreflightError,
    RefusedError,
    RetentionError,
    ReviewError,
    RulesError,
    StartError,
    SupersetError,
)
DESCRIPTION = "Answers from what MySQL-family servers write about themselves: slow query and audit logs."


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    words = sys.argv[1:] if words is None else list(words)
    try:
        chosen = Settings.from_environment()
        context = Context(chosen, Home(chosen.home))
        if execute := _elsewhere(words):
            return execute(words, context)
        if words[:2] == rules_push.WORDS:
            return rules_push.run(_single("rules push", rules_push).parse_args(words[2:]), context)
        arguments = _parser().parse_args(words)
        return COMMANDS[arguments.command].run(arguments, context)
    except (SettingsError, SourcesError, ConfigurationError) as error:
        return _failed(Exit.USAGE, error)
    except NotRunningError as error:
        return _failed(Exit.NOT_RUNNING, error)
    except BrokenPipeError:  # who read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except (*FAILURES, OSError) as error:
        return _failed(Exit.FAILED, error)
    except KeyboardInterrupt:
        return _failed(Exit.INTERRUPTED, "interrupted")


def _elsewhere(words: Sequence[str]) -> Callable[[Sequence[str], Context], Exit] | None:
    """Who replaces this process and parses the words, if it is not we."""
    if words[:1] == [doctor.NAME]:
        return doctor.execute
    return java.execute if jvm.runs(words) else None


def _failed(code: Exit, error: object) -> Exit:
    print(f"tailrace: {error}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tailrace",
        description=DESCRIPTION,
        epilog=_exit_codes(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tailrace {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        _add(commands, name, command)
    for name, purpose in {doctor.NAME: doctor.HELP, **java.COMMANDS}.items():
        commands.add_parser(name, help=purpose)  # they parse their own arguments, --help too
    return parser


def _single(name: str, command: ModuleType) -> argparse.ArgumentParser:
    """The parser of a command of two words."""
    parser = argparse.ArgumentParser(prog=f"tailrace {name}", **_description(command))
    command.configure(parser)
    return parser


def _description(command: ModuleType) -> dict:
    return {
        "description": command.__doc__,
        "epilog": "\n".join(["examples:", *(f"  {example}" for example in command.EXAMPLES)]),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def _add(commands: argparse._SubParsersAction, name: str, command: ModuleType) -> None:
    parser = commands.add_parser(name, help=command.HELP, **_description(command))
    if hasattr(command, "configure"):
        command.configure(parser)


def _exit_codes() -> str:
    return "\n".join(["exit codes:", *(f"  {code:>3}  {code.meaning}" for code in Exit)])
