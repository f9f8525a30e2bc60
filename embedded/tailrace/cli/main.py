"""`tailrace`: parses the command line, runs one command, converts errors to exit codes.

A package adds commands by an Extension that it declares as an entry point of the group `tailrace.commands`.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from types import ModuleType

from tailrace import __version__
from tailrace.alerts.triage import AlertError
from tailrace.backfill.ranges import BackfillError
from tailrace.cli import java_command_line
from tailrace.cli.commands import (
    alerts,
    backfill,
    books,
    credentials,
    dashboards,
    evidence,
    health,
    migrate,
    reports,
    review,
    rules_push,
)
from tailrace.cli.context import CommandError, Context, NotRunningError
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.client import ClickHouseError
from tailrace.config.home import Home
from tailrace.config.settings import Settings, SettingsError
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.credentials.certificates import CertificateError
from tailrace.dashboards.asset_files import AssetError
from tailrace.dashboards.superset_client import SupersetError
from tailrace.evidence.reviews import ReviewError
from tailrace.migrations.migration_files import MigrationError
from tailrace.migrations.retention import RetentionError
from tailrace.rules.push import RulesError
from tailrace.sources.sources_file import SourcesError

GROUP = "tailrace.commands"
"""The group of the entry points that declare extensions."""

Execute = Callable[[Sequence[str], Context], Exit]
"""Parses its own arguments and runs; it may replace this process."""


@dataclass(frozen=True)
class Extension:
    """Commands that a package adds to the command line."""

    commands: Mapping[str, ModuleType] = field(default_factory=dict)
    """Commands by name; `tailrace.cli.commands` describes the modules."""
    executed: Mapping[str, Execute] = field(default_factory=dict)
    """Commands that parse their own arguments, including `--help`."""
    help: Mapping[str, str] = field(default_factory=dict)
    """One line of help for each of those."""
    order: Sequence[str] = ()
    """The order of the commands in the help."""
    failures: tuple[type[Exception], ...] = ()
    """Errors whose message is shown to the user."""
    context: Callable[[Settings, Home], Context] = Context


def _execute_java(words: Sequence[str], context: Context) -> Exit:
    java_command_line.start(context.java_command_line(), words)


OWN = Extension(
    commands={
        "health": health,
        "books": books,
        "alerts": alerts,
        "reports": reports,
        "review": review,
        "evidence": evidence,
        "backfill": backfill,
        "credentials": credentials,
        "dashboards": dashboards,
        "migrate": migrate,
    },
    executed=dict.fromkeys(java_command_line.COMMANDS, _execute_java),
    help=java_command_line.COMMANDS,
    failures=(
        AlertError,
        AssetError,
        BackfillError,
        CertificateError,
        ClickHouseError,
        CommandError,
        MigrationError,
        RetentionError,
        ReviewError,
        RulesError,
        SupersetError,
    ),
)
DESCRIPTION = "Analytics of the logs of MySQL-family servers: slow query, audit, error and general logs."


def main(words: Sequence[str] | None = None, extensions: Iterable[Extension] | None = None) -> int:
    """Runs one command; returns its exit code.

    `extensions` are by default those of the installed packages.
    """
    words = sys.argv[1:] if words is None else list(words)
    chosen = _combined(_installed() if extensions is None else extensions)
    try:
        return _run(words, chosen)
    except (SettingsError, SourcesError, ConfigurationError) as error:
        return _failed(Exit.USAGE, error)
    except NotRunningError as error:
        return _failed(Exit.NOT_RUNNING, error)
    except BrokenPipeError:  # the reader has closed our output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except (*chosen.failures, OSError) as error:
        return _failed(Exit.FAILED, error)
    except KeyboardInterrupt:
        return _failed(Exit.INTERRUPTED, "interrupted")


def _installed() -> list[Extension]:
    return [entry.load() for entry in entry_points(group=GROUP)]


def _combined(extensions: Iterable[Extension]) -> Extension:
    """Returns our commands with those of the extensions, which may replace ours."""
    result = OWN
    for each in extensions:
        result = Extension(
            commands={**result.commands, **each.commands},
            executed={**result.executed, **each.executed},
            help={**each.help, **result.help},
            order=each.order or result.order,
            failures=(*result.failures, *each.failures),
            context=each.context,
        )
    return result


def _run(words: Sequence[str], extension: Extension) -> int:
    settings = Settings.from_environment()
    context = extension.context(settings, Home(settings.home))
    if words[:2] == rules_push.WORDS:
        return rules_push.run(_single("rules push", rules_push).parse_args(words[2:]), context)
    if words and (execute := extension.executed.get(words[0])):
        return execute(words, context)
    arguments = _parser(extension).parse_args(words)
    return extension.commands[arguments.command].run(arguments, context)


def _failed(code: Exit, error: object) -> Exit:
    print(f"tailrace: {error}", file=sys.stderr)
    return code


def _parser(extension: Extension) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tailrace",
        description=DESCRIPTION,
        epilog=_exit_codes(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tailrace {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in _ordered(extension):
        _add(commands, name, command)
    for name, purpose in extension.help.items():
        commands.add_parser(name, help=purpose)  # they parse their own arguments, including --help
    return parser


def _single(name: str, command: ModuleType) -> argparse.ArgumentParser:
    """Returns the parser of a command of two words."""
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


def _ordered(extension: Extension) -> list[tuple[str, ModuleType]]:
    rank = {name: number for number, name in enumerate(extension.order)}
    return sorted(extension.commands.items(), key=lambda command: rank.get(command[0], len(rank)))


if __name__ == "__main__":
    sys.exit(main())
