"""Reads the description of a command from its parser and from the texts of its module."""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from tailrace.cli.exit_codes import Exit
from tailrace.cli.help import model
from tailrace.cli.help.model import CommandHelp, Value

_KINDS = {
    "COMPONENT": model.COMPONENT,
    "FILE": model.FILE,
    "PEM": model.FILE,
    "DIR": model.DIRECTORY,
    "DIRECTORY": model.DIRECTORY,
}
"""What placeholders name."""
_ANY_NUMBER = ("*", "+")


@dataclass(frozen=True)
class Texts:
    """The texts of a command that its parser does not contain."""

    document: str = "."
    """The docstring of the module."""
    examples: tuple[str, ...] = ()
    exit_codes: Mapping[int, str] = field(default_factory=dict)
    see_also: tuple[str, ...] = ()
    keys: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The keys of rows, by the words of the command after its name; "" for the command itself."""

    @classmethod
    def of(cls, module: ModuleType) -> "Texts":
        """Returns the texts of a module; `tailrace.cli.commands` describes them."""
        return cls(
            module.__doc__ or ".",
            tuple(module.EXAMPLES),
            getattr(module, "EXIT_CODES", {}),
            tuple(getattr(module, "SEE_ALSO", ())),
            getattr(module, "KEYS", {}),
        )


def attach(parser: argparse.ArgumentParser, texts: Texts) -> CommandHelp:
    """Gives the parser and those of its subcommands their help; returns that of the command."""
    about = describe(parser, texts)
    _attach(parser, about)
    return about


def _attach(parser: argparse.ArgumentParser, about: CommandHelp) -> None:
    parser.about = about
    known = {each.name.split()[-1]: each for each in about.subcommands}
    action = subparsers(parser)
    for name, deeper in action.choices.items() if action else ():
        same = next((word for word in known if action.choices[word] is deeper), name)
        _attach(deeper, known.get(same, describe(deeper, Texts())))


def describe(parser: argparse.ArgumentParser, texts: Texts) -> CommandHelp:
    """Returns the help of a command with its subcommands."""
    purpose, details = model.paragraphs(texts.document)
    action = subparsers(parser)
    name = parser.prog.removeprefix("tailrace").strip()
    return CommandHelp(
        name,
        purpose,
        details,
        tuple(_values(parser, options=False)),
        tuple(_values(parser, options=True)),
        tuple(_subcommand(deeper, purpose, texts, name) for deeper, purpose in _listed_parsers(action)),
        bool(action and action.required),
        dict(texts.keys.get("", {})),
        texts.examples,
        tuple(_codes(texts.exit_codes)),
        texts.see_also,
    )


def _subcommand(parser: argparse.ArgumentParser, purpose: str, texts: Texts, parent: str) -> CommandHelp:
    own = parser.prog.removeprefix("tailrace").strip()
    words = own.removeprefix(parent).strip()
    begin = (f"tailrace {own} ", f"tailrace {own}\n")
    its = Texts(
        model.sentence(purpose),
        tuple(example for example in texts.examples if f"{example}\n".startswith(begin)),
        texts.exit_codes,
        (f"tailrace {parent}", *texts.see_also),
        {"": texts.keys.get(words, {})},
    )
    return describe(parser, its)


def _codes(own: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """The exit codes of a command: those of all commands, with its own meanings."""
    common = {code.value: code.meaning for code in Exit if code != Exit.NOT_RUNNING}
    yield from sorted({**common, **own}.items())


def subparsers(parser: argparse.ArgumentParser) -> argparse._SubParsersAction | None:
    """Returns the action that contains the subcommands; None if there are none."""
    found = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return next(found, None)


def listed(action: argparse._SubParsersAction) -> list[str]:
    """Returns the names of the subcommands without aliases and old names."""
    return [each.dest for each in action._choices_actions]


def _listed_parsers(
    action: argparse._SubParsersAction | None,
) -> Iterable[tuple[argparse.ArgumentParser, str]]:
    if action is None:
        return []
    return [(action.choices[each.dest], each.help or "") for each in action._choices_actions]


def _values(parser: argparse.ArgumentParser, options: bool) -> Iterator[Value]:
    for action in parser._actions:
        hidden = action.help == argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction)
        if not hidden and bool(action.option_strings) == options:
            yield _option(action) if options else _argument(action)


def _option(action: argparse.Action) -> Value:
    placeholder = "" if action.nargs == 0 else _placeholder(action)
    return Value(
        tuple(action.option_strings),
        placeholder,
        _help(action),
        action.required,
        kind=_kind(action),
        choices=_choices(action),
    )


def _argument(action: argparse.Action) -> Value:
    return Value(
        (_placeholder(action),),
        "",
        _help(action),
        action.nargs not in ("*", "?"),
        action.nargs in _ANY_NUMBER,
        _kind(action),
        _choices(action),
    )


def _help(action: argparse.Action) -> str:
    text = model.sentence(action.help or "")
    choices = _choices(action)
    return f"{text} One of {', '.join(choices)}.".strip() if choices else text


def _placeholder(action: argparse.Action) -> str:
    return str(action.metavar or action.dest).upper().replace("_", "-")


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices or ()))


def _kind(action: argparse.Action) -> str:
    found = _KINDS.get(str(action.metavar or action.dest).upper(), "")
    return found or (model.FILE if action.type is Path else "")
