"""The parser of a command: help in the style of all commands, and errors that suggest the correct name."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from tailrace.cli import suggestions
from tailrace.cli.exit_codes import Exit
from tailrace.cli.help import from_parser, text
from tailrace.cli.help.model import CommandHelp

_ARGUMENT = "argument "
_REQUIRED = "the following arguments are required: "


class HelpParser(argparse.ArgumentParser):
    """A parser of one command or subcommand. `prog` begins with `tailrace`."""

    about: CommandHelp | None = None
    """The help, which from_parser.attach sets."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**{**keywords, "add_help": False})
        self.add_argument("-h", "--help", action="help", help="show this help and exit")

    def format_help(self) -> str:
        about = self.about or from_parser.describe(self, from_parser.Texts())
        return text.command(about, text.width())

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> argparse.Namespace:
        """Reports an unknown option with the command to which it was given."""
        parsed, extra = self.parse_known_args(args, namespace)
        if extra:
            _refused_by(self, parsed)._refuse(extra[0])
        return parsed

    def _refuse(self, word: str) -> NoReturn:
        if not word.startswith("-"):
            self.error(f"unexpected argument '{word}'")
        options = [name for name in self._option_string_actions if name.startswith("--")]
        self.error(suggestions.unknown("option", word.partition("=")[0], options))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        if isinstance(action, argparse._SubParsersAction):
            known = from_parser.listed(action)
            raise argparse.ArgumentError(None, suggestions.unknown("subcommand", value, known))
        known = [str(choice) for choice in action.choices]
        hint = suggestions.suggestion(str(value), known)
        raise argparse.ArgumentError(action, f"expected one of {', '.join(known)}, found '{value}'{hint}")

    def error(self, message: str) -> NoReturn:
        """Prints what is wrong and the command that shows the help; exits with 2."""
        if message.startswith(_REQUIRED):
            message = f"{message.removeprefix(_REQUIRED)} is missing"
        message = message.removeprefix(_ARGUMENT)
        print(f"tailrace: {message}\nsee: {self.prog} --help", file=sys.stderr)
        raise SystemExit(Exit.USAGE)


def _refused_by(parser: HelpParser, parsed: argparse.Namespace) -> HelpParser:
    """Returns the parser of the chosen subcommand, or the parser itself."""
    action = from_parser.subparsers(parser)
    chosen = action.choices.get(getattr(parsed, action.dest)) if action else None
    return _refused_by(chosen, parsed) if chosen else parser
