"""`tailrace`: parses the command line, runs one command, converts errors to exit codes.

A package adds commands by an Extension that it declares as an entry point of the group `tailrace.commands`.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from tailrace import __version__
from tailrace.cli import java_command_line
from tailrace.cli.context import Context, NotRunningError
from tailrace.cli.exit_codes import Exit
from tailrace.config import renamed
from tailrace.config.home import Home
from tailrace.config.renamed import Renamed
from tailrace.config.settings import Settings
from tailrace.errors import ReportedError, UsageError

GROUP = "tailrace.commands"
"""The group of the entry points that declare extensions."""

Execute = Callable[[Sequence[str], Context], Exit]
"""Parses its own arguments and runs; it may replace this process."""


@dataclass(frozen=True)
class Extension:
    """Commands that a package adds to the command line."""

    commands: Mapping[str, str] = field(default_factory=dict)
    """Modules by the commands' names; `tailrace.cli.commands` describes them. Only the module of the command
    that runs is imported: all of them together take a third of a second."""
    executed: Mapping[str, Execute] = field(default_factory=dict)
    """Commands that parse their own arguments, including `--help`."""
    help: Mapping[str, str] = field(default_factory=dict)
    """One line of help for each of those."""
    order: Sequence[str] = ()
    """The order of the commands in the help."""
    context: Callable[[Settings, Home], Context] = Context


def _execute_java(words: Sequence[str], context: Context) -> Exit:
    java_command_line.start(context.java_command_line(), words)


OWN = Extension(
    commands={
        name: f"tailrace.cli.commands.{name}"
        for name in (
            *("health", "ledger", "alerts", "reports", "review", "evidence", "backfill"),
            *("credentials", "dashboards", "migrate"),
        )
    },
    executed=dict.fromkeys(java_command_line.COMMANDS, _execute_java),
    help=java_command_line.COMMANDS,
)
OLD_COMMANDS = {"books": Renamed("ledger")}
"""Commands that were renamed. The help does not list the old names."""
PUSH = ["rules", "push"]
"""The words of a command that shares its first word with one of the JVM."""
PUSH_MODULE = "tailrace.cli.commands.rules_push"
VERSION = "--version"
DESCRIPTION = "Analytics of the logs of MySQL-family servers: slow query, audit, error and general logs."


def main(words: Sequence[str] | None = None, extensions: Iterable[Extension] | None = None) -> int:
    """Runs one command; returns its exit code.

    `extensions` are by default those of the installed packages.
    """
    words = sys.argv[1:] if words is None else list(words)
    chosen = _combined(_installed() if extensions is None else extensions)
    try:
        return _run(words, chosen)
    except UsageError as error:
        return _failed(Exit.USAGE, error)
    except NotRunningError as error:
        return _failed(Exit.NOT_RUNNING, error)
    except BrokenPipeError:  # the reader has closed our output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except (ReportedError, OSError) as error:
        return _failed(Exit.FAILED, error)
    except KeyboardInterrupt:
        return _failed(Exit.INTERRUPTED, "interrupted")


def _installed() -> list[Extension]:
    from importlib.metadata import entry_points

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
            context=each.context,
        )
    return result


def _run(words: Sequence[str], extension: Extension) -> int:
    if words:
        words = [renamed.new_name(words[0], (), OLD_COMMANDS, renamed.to_stderr), *words[1:]]
    settings = Settings.from_environment()
    context = extension.context(settings, Home(settings.home))
    if words[: len(PUSH)] == PUSH:
        push = importlib.import_module(PUSH_MODULE)
        return push.run(_single("rules push", push).parse_args(words[len(PUSH) :]), context)
    if words and (execute := extension.executed.get(words[0])):
        return execute(words, context)
    commands = _commands(words, extension)
    arguments = _parser(extension, commands).parse_args(words)
    return commands[arguments.command].run(arguments, context)


def _commands(words: Sequence[str], extension: Extension) -> dict[str, ModuleType]:
    """The command that the first word names; otherwise all of them, in the order of the help."""
    if words[:1] == [VERSION]:
        return {}
    names = words[:1] if words and words[0] in extension.commands else _ordered(extension)
    return {name: importlib.import_module(extension.commands[name]) for name in names}


def _failed(code: Exit, error: object) -> Exit:
    print(f"tailrace: {error}", file=sys.stderr)
    return code


def _parser(extension: Extension, known: Mapping[str, ModuleType]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tailrace",
        description=DESCRIPTION,
        epilog=_exit_codes(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(VERSION, action="version", version=f"tailrace {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in known.items():
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


def _ordered(extension: Extension) -> list[str]:
    rank = {name: number for number, name in enumerate(extension.order)}
    return sorted(extension.commands, key=lambda name: rank.get(name, len(rank)))


if __name__ == "__main__":
    sys.exit(main())
