"""Collects the help of all commands: those in Python from their modules, those in Java from a file."""

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType

from tailrace.cli import java_command_line, tasks
from tailrace.cli.exit_codes import Exit
from tailrace.cli.help import from_parser, java, model, text
from tailrace.cli.help.from_parser import Texts
from tailrace.cli.help.model import CommandHelp
from tailrace.cli.help.parser import HelpParser

PURPOSE = "Analyzes the logs of MySQL-family servers: slow query, audit, error and general logs."
RULES = "rules"
SHARED = {
    (RULES, name): f"tailrace.cli.commands.rules_{name.replace('-', '_')}"
    for name in ("push", "health", "canary", "promote", "propose-exceptions")
}
"""The modules of the Python commands that share their first word with a Java command."""

Modules = Mapping[str, str]
"""The modules of the Python commands by name; `tailrace.cli.commands` describes them."""


def parser(name: str, module: ModuleType) -> HelpParser:
    """Returns the parser of a Python command, with its help."""
    result = HelpParser(prog=f"tailrace {name}")
    if hasattr(module, "configure"):
        module.configure(result)
    from_parser.attach(result, Texts.of(module))
    return result


def names(modules: Modules) -> list[str]:
    """Returns the names of all commands in the order of the help."""
    groups = tasks.by_task([*modules, *java_command_line.COMMANDS])
    return [name for group in groups.values() for name in group]


def about(name: str, modules: Modules) -> CommandHelp:
    """Returns the help of one command. Raises KeyError if it does not exist."""
    if name in modules:
        return parser(name, importlib.import_module(modules[name])).about
    found = java.commands()[name]
    if name != RULES:
        return found
    ours = [parser(" ".join(words), importlib.import_module(SHARED[words])).about for words in SHARED]
    return dataclasses.replace(found, subcommands=(*found.subcommands, *ours))


def everything(modules: Modules) -> list[CommandHelp]:
    """Returns the help of all commands in the order of the overview."""
    return [about(name, modules) for name in names(modules)]


def overview(modules: Modules, columns: int = text.WIDTH) -> str:
    """Returns the text of `tailrace --help`."""
    groups = tasks.by_task([*modules, *java_command_line.COMMANDS])
    purposes = {
        task: [(name, _purpose(name, modules)) for name in members] for task, members in groups.items()
    }
    more: dict[str, Sequence[str]] = {
        "Options": [
            "-h, --help       Show this help and exit.",
            "    --version    Print the version and exit.",
        ],
        "Examples": tasks.EXAMPLES,
        "Exit codes": [f"{code:>3}  {code.meaning}" for code in Exit],
        "See also": ["tailrace COMMAND --help, tailrace completion --help, docs/CLI.md"],
    }
    return text.overview(PURPOSE, purposes, more, columns)


def _purpose(name: str, modules: Modules) -> str:
    if name in java_command_line.COMMANDS:
        return model.sentence(java_command_line.COMMANDS[name])
    return model.sentence(importlib.import_module(modules[name]).HELP)


def java_help(words: Sequence[str], modules: Modules) -> str:
    """Returns the help that a command line of a Java command asks for."""
    return text.command(java.find(list(words), about(words[0], modules)), text.width())
