"""Renders `tailrace --help` and the help of one command. HelpText.java renders Java commands the same way."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from tailrace.cli.help.model import CommandHelp, Value

WIDTH = 100
"""Characters per line; fewer on a narrower terminal."""
MIN_WIDTH = 60
MAX_LABEL = 30
"""A longer label is on a line of its own."""


def width() -> int:
    """Returns the characters per line of the standard output."""
    if not sys.stdout.isatty():
        return WIDTH
    return max(MIN_WIDTH, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


def command(about: CommandHelp, columns: int = WIDTH) -> str:
    """Returns the help of one command."""
    sections = {
        "Usage": [f"  {line}" for line in about.usage()],
        "Subcommands": _table([(each.name.split()[-1], each.purpose) for each in about.subcommands], columns),
        "Arguments": _table([(each.names[0], each.help) for each in about.arguments], columns),
        "Options": _table([(label(each), each.help) for each in about.options], columns),
        "Details": _details(about.details, columns),
        "Examples": [f"  {line}" for example in about.examples for line in example.split("\n")],
        "Exit codes": _table([(str(code), meaning) for code, meaning in about.exit_codes], columns),
        "See also": _filled(", ".join(about.see_also), columns),
    }
    return "\n".join([*_wrapped(about.purpose, columns), *_sections(sections)]) + "\n"


def overview(
    purpose: str,
    tasks: Mapping[str, Sequence[tuple[str, str]]],
    more: Mapping[str, Sequence[str]],
    columns: int = WIDTH,
) -> str:
    """Returns the help of all commands: `tasks` has names and purposes by task, `more` further sections."""
    label_width = max(len(name) for rows in tasks.values() for name, _ in rows)
    groups = {task: _table(rows, columns, label_width) for task, rows in tasks.items()}
    usage = {"Usage": ["  tailrace COMMAND [OPTIONS]", "  tailrace COMMAND --help"]}
    rest = {title: [f"  {line}" for line in lines] for title, lines in more.items()}
    return "\n".join([*_wrapped(purpose, columns), *_sections({**usage, **groups, **rest})]) + "\n"


def label(option: Value) -> str:
    """Returns an option's names with the placeholder of its value."""
    names = ", ".join(option.names)
    indented = names if len(option.names[0]) == 2 else f"    {names}"
    return f"{indented} {option.placeholder}".rstrip()


def _sections(sections: Mapping[str, Sequence[str]]) -> Iterable[str]:
    for title, lines in sections.items():
        if lines:
            yield from ("", f"{title}:", *lines)


def _table(rows: Sequence[tuple[str, str]], columns: int, label_width: int = 0) -> list[str]:
    """Lays out labels with their texts, which continue under their own beginning."""
    fitting = [len(label) for label, _ in rows if len(label) <= MAX_LABEL]
    indent = 4 + (label_width or max(fitting, default=MAX_LABEL))
    lines = []
    for name, text in rows:
        first, *rest = _wrapped(text, columns - indent) or [""]
        head = f"  {name}"
        if len(head) + 2 > indent:
            lines += [head, " " * indent + first]
        else:
            lines.append(f"{head.ljust(indent)}{first}".rstrip())
        lines += [" " * indent + line for line in rest]
    return lines


def _details(texts: Sequence[str], columns: int) -> list[str]:
    lines: list[str] = []
    for text in texts:
        lines += [""] if lines else []
        lines += _detail(text, columns)
    return lines


def _detail(text: str, columns: int) -> list[str]:
    """A paragraph with an indented line is preformatted."""
    if any(line.startswith(" ") for line in text.split("\n")):
        return [f"  {line}".rstrip() for line in text.split("\n")]
    return _filled(text, columns)


def _filled(text: str, columns: int) -> list[str]:
    return [f"  {line}" for line in _wrapped(text, columns - 2)]


def _wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
