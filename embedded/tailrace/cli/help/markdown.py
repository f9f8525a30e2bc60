"""Renders docs/CLI.md: the help of every command as `--help` prints it, and the keys of its rows."""

from collections.abc import Iterable, Iterator, Sequence

from tailrace.cli import tasks
from tailrace.cli.help import text
from tailrace.cli.help.model import CommandHelp

INTRODUCTION = """# Command line

<!-- Made by `make cli-reference` from the parsers of the commands; a test fails if it is not up to date. -->

This page lists the commands of `tailrace` by task, with their options, examples and exit codes. The text of
each command is that of `tailrace COMMAND --help`. `make man` writes manual pages with the same contents to
`target/man`; to read one: `man -l target/man/tailrace-digest.1`.

- **Forms of the output.** `--output table` is for people and may change. Programs read `--output json` or
  `--output csv`, whose keys are listed at each command. `--json` is short for `--output json`. CSV has a
  header and follows RFC 4180; lists and objects are JSON in one field. An unknown value is `null` in JSON,
  and an empty field in CSV. Values are not changed: a spreadsheet interprets a value that begins with `=`
  as a formula.
- **Colour.** Only a terminal receives colours. `NO_COLOR=1` turns them off.
- **Errors** are on standard error. They state what is wrong and the next command. The message for a misspelt
  command, subcommand or option contains the most similar one.
- **Completion.** `source <(tailrace completion bash)` completes commands, subcommands, options, values and
  names of components in bash. The commands for zsh and fish are [below](#tailrace-completion).
"""


def page(overview: str, commands: Sequence[CommandHelp]) -> str:
    """Returns the whole page."""
    by_name = {command.name: command for command in commands}
    lines = [INTRODUCTION, *_contents(by_name), "", "## Overview", "", *_block(overview)]
    for task, names in tasks.by_task(by_name).items():
        lines += ["", f"## {task}"]
        for name in names:
            lines += _command(by_name[name])
    return "\n".join(lines) + "\n"


def _contents(by_name: dict[str, CommandHelp]) -> Iterator[str]:
    yield "| task | commands |"
    yield "|---|---|"
    for task, names in tasks.by_task(by_name).items():
        links = ", ".join(f"[{name}](#tailrace-{name})" for name in names)
        yield f"| {task} | {links} |"


def _command(command: CommandHelp) -> Iterator[str]:
    for each in command.walk():
        yield from ("", f"{'###' if each is command else '####'} tailrace {each.name}", "")
        yield from _block(text.command(each))
        yield from _keys(each)


def _keys(command: CommandHelp) -> Iterable[str]:
    if not command.keys:
        return []
    rows = [f"| `{key}` | {meaning} |" for key, meaning in command.keys.items()]
    return [
        "",
        "Keys of a row with `--output json` and `--output csv`:",
        "",
        "| key | meaning |",
        "|---|---|",
        *rows,
    ]


def _block(shown: str) -> list[str]:
    return ["```text", shown.rstrip("\n"), "```"]
