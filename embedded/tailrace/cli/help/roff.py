"""Renders manual pages in roff with the macros of man(7): tailrace.1, and tailrace-COMMAND.1 for each.

A page contains the subcommands of its command. It has no date, so that the same sources give the same page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tailrace import __version__
from tailrace.cli import tasks
from tailrace.cli.exit_codes import Exit
from tailrace.cli.help import catalog, text
from tailrace.cli.help.model import CommandHelp, Value

SECTION = 1


def pages(commands: Sequence[CommandHelp], summaries: Mapping[str, str]) -> dict[str, str]:
    """Returns the pages by file name; `summaries` has one line for each command."""
    found = {f"tailrace-{each.name}.{SECTION}": command(each, summaries[each.name]) for each in commands}
    return {f"tailrace.{SECTION}": _overview(commands, summaries), **found}


def command(about: CommandHelp, summary: str) -> str:
    """Returns the page of a command."""
    lines = [*_head(f"tailrace-{about.name}", summary), ".SH SYNOPSIS", *_usages(about)]
    lines += [".SH DESCRIPTION", *_paragraph(about.purpose)]
    for paragraph in about.details:
        lines += [".PP", *_paragraph(paragraph)]
    lines += [*_values("ARGUMENTS", about.arguments), *_values("OPTIONS", about.options)]
    for each in about.subcommands:
        lines += [f".SS {_text(each.name.split()[-1])}", *_paragraph(each.purpose)]
        lines += _list((text.label(value).strip(), value.help) for value in _of(each))
    if any(each.keys for each in about.walk()):
        lines += [".SH OUTPUT", "Keys of a row with \\-\\-output json and csv:"]
    for each in about.walk():
        if each.keys:
            lines += [f".SS {_text(each.name)}", *_list(each.keys.items())]
    lines += _examples(about.examples)
    lines += [".SH EXIT STATUS", *_list((str(code), meaning) for code, meaning in about.exit_codes)]
    return _page([*lines, ".SH SEE ALSO", _text(", ".join(about.see_also) or "tailrace --help")])


def _overview(commands: Sequence[CommandHelp], summaries: Mapping[str, str]) -> str:
    lines = [*_head("tailrace", "log analytics for MySQL"), ".SH SYNOPSIS"]
    lines += [_text("tailrace COMMAND [OPTIONS]"), ".SH DESCRIPTION", *_paragraph(catalog.PURPOSE)]
    lines.append(".SH COMMANDS")
    for task, names in tasks.by_task([each.name for each in commands]).items():
        lines += [f".SS {_text(task)}", *_list((f"tailrace-{name}(1)", summaries[name]) for name in names)]
    lines += _examples(tasks.EXAMPLES)
    lines += [".SH EXIT STATUS", *_list((str(code.value), code.meaning) for code in Exit)]
    return _page([*lines, ".SH SEE ALSO", _text("tailrace completion --help, docs/CLI.md")])


def _page(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _head(name: str, summary: str) -> list[str]:
    title = f'.TH {name.upper().replace("-", chr(92) + "-")} {SECTION} "" "tailrace {__version__}" "Tailrace"'
    return [title, ".SH NAME", f"{_text(name)} \\- {_text(summary)}"]


def _usages(about: CommandHelp) -> Iterator[str]:
    usages = [usage for each in about.walk() for usage in each.usage()]
    for number, usage in enumerate(usages):
        yield from ([".br"] if number else [])
        yield _text(usage)


def _of(command: CommandHelp) -> tuple[Value, ...]:
    return (*command.arguments, *command.options)


def _values(title: str, values: Sequence[Value]) -> list[str]:
    rows = ((text.label(value).strip(), value.help) for value in values)
    return [f".SH {title}", *_list(rows)] if values else []


def _list(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in rows:
        yield from (".TP", f"\\fB{_text(name)}\\fR", _text(meaning))


def _examples(examples: Sequence[str]) -> Iterator[str]:
    yield ".SH EXAMPLES"
    for number, example in enumerate(examples):
        yield from ([".PP"] if number else [])
        yield from (".nf", *map(_text, example.split("\n")), ".fi")


def _paragraph(paragraph: str) -> list[str]:
    lines = paragraph.split("\n")
    if any(line.startswith(" ") for line in lines):
        return [".nf", *map(_text, lines), ".fi"]
    return [_text(" ".join(paragraph.split()))]


def _text(words: str) -> str:
    """Escapes what roff interprets: backslashes, hyphens, and a control character at the start of a line."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("→", "->")
    return f"\\&{escaped}" if escaped.startswith((".", "'", " ")) else escaped
