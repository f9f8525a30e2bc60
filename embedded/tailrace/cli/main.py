"""`tailrace`: parses the command line, runs one command, converts errors to exit codes.

A package adds commands by an Extension that it declares as an entry point of the group `tailrace.commands`.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tailrace import __version__
from tailrace.cli import java_command_line, suggestions
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.config import renamed
from tailrace.config.home import Home
from tailrace.config.renamed import Renamed
from tailrace.config.settings import Settings
from tailrace.errors import NotRunningError, ReportedError, UsageError

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
    """Commands that parse their own arguments. java_commands.json has the help of those without a module."""
    context: Callable[[Settings, Home, Mapping[str, str]], Context] = Context


def _execute_java(words: Sequence[str], context: Context) -> Exit:
    from tailrace.cli import backtest, server_digest

    if not java_command_line.reads_server(words):
        java_command_line.start(context.java_command_line(), backtest.completed(words, context))
    return server_digest.run(words, context)


OWN = Extension(
    commands={
        name: f"tailrace.cli.commands.{name}"
        for name in (
            *("health", "ledger", "alerts", "search", "reports", "review", "evidence", "verify"),
            *("backfill", "pull", "classes", "tokens", "keys", "transparency", "witness"),
            *("hold", "retention", "archive", "erase", "reveal"),
            *("credentials", "dashboards", "migrate", "completion"),
        )
    },
    executed=dict.fromkeys(java_command_line.COMMANDS, _execute_java),
)
OLD_COMMANDS = {"books": Renamed("ledger")}
"""Commands that were renamed. The help does not list the old names."""
VERSION = "--version"
HELP = ("-h", "--help")
HELP_COMMAND = "help"
"""`tailrace help digest` is `tailrace digest --help`."""


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
            context=each.context,
        )
    return result


def _run(words: Sequence[str], extension: Extension) -> int:
    words = _without_old_names(words)
    if words[:1] == [VERSION]:
        print(f"tailrace {__version__}")
        return Exit.OK
    if shown := _help(words, extension):
        print(shown, end="")
        return Exit.OK
    _require_command(words, extension)
    settings = Settings.from_environment()
    context = extension.context(settings, Home(settings.home), extension.commands)
    return _execute(words, extension, context)


def _without_old_names(words: Sequence[str]) -> list[str]:
    if words[:1] == [HELP_COMMAND]:
        words = [*words[1:], HELP[1]]
    return [renamed.new_name(word, (), OLD_COMMANDS, renamed.to_stderr) for word in words[:1]] + list(
        words[1:]
    )


def _help(words: Sequence[str], extension: Extension) -> str:
    """The help of all commands or of a Java command; empty if another one, or none, is asked for."""
    from tailrace.cli.help import catalog, text

    if words and words[0] in HELP:
        return catalog.overview(extension.commands, text.width())
    asks = bool(words) and words[0] in java_command_line.COMMANDS and set(HELP).intersection(words)
    if not asks or tuple(words[:2]) in catalog.SHARED:
        return ""
    return catalog.java_help(words, extension.commands)


def _require_command(words: Sequence[str], extension: Extension) -> None:
    known = extension.commands.keys() | extension.executed.keys()
    if not words:
        raise UsageError("a command is missing\nsee: tailrace --help")
    if words[0] not in known:
        what = "option" if words[0].startswith("-") else "command"
        names = (*HELP, VERSION) if what == "option" else sorted(known)
        raise UsageError(f"{suggestions.unknown(what, words[0], names)}\nsee: tailrace --help")


def _execute(words: Sequence[str], extension: Extension, context: Context) -> int:
    from tailrace.cli.help import catalog

    if module := catalog.SHARED.get(tuple(words[:2])):
        name, rest = " ".join(words[:2]), words[2:]
    elif execute := extension.executed.get(words[0]):
        return execute(words, context)
    else:
        name, module, rest = words[0], extension.commands[words[0]], words[1:]
    command = importlib.import_module(module)
    return command.run(catalog.parser(name, command).parse_args(rest), context)


def _failed(code: Exit, error: object) -> Exit:
    print(f"tailrace: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
