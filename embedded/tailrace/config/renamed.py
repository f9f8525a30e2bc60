"""Names that users write and that were renamed.

The old name works, with a warning, until a release removes it. Each reader has one table, old name → Renamed.
Help and documentation show the new name only.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import argparse

T = TypeVar("T")
Warn = Callable[[str], None]


class Renamed(NamedTuple):
    """The new name, and the release that removes the old one."""

    name: str
    removed_in: str = "0.3.0"


Table = Mapping[str, Renamed]


class BothGivenError(ValueError):
    """The old and the new name of one thing are given; the message names both."""


def to_stderr(warning: str) -> None:
    print(f"tailrace: warning: {warning}", file=sys.stderr)


def with_new_names(given: Mapping[str, T], table: Table, warn: Warn) -> dict[str, T]:
    """Returns `given` under the new names. Warns of each old name. Raises BothGivenError."""
    return {new_name(name, given, table, warn): value for name, value in given.items()}


def new_name(name: str, given: Mapping[str, object] | Sequence[str], table: Table, warn: Warn) -> str:
    """Returns the new name of a given one, or the name itself. Warns of an old name.

    Raises BothGivenError if `given` contains both.
    """
    renamed = table.get(name)
    if renamed is None:
        return name
    if renamed.name in given:
        raise BothGivenError(f"{name} is the old name of {renamed.name}, and both are given: remove {name}")
    warn(f"{name} is now called {renamed.name}; release {renamed.removed_in} removes the old name")
    return renamed.name


def parse(
    parser: "argparse.ArgumentParser", table: Table, words: Sequence[str] | None = None
) -> "argparse.Namespace":
    """Parses a command line in which options may have their old names. Exits like argparse on an error."""
    try:
        return parser.parse_args(options(sys.argv[1:] if words is None else words, table, to_stderr))
    except BothGivenError as error:
        parser.error(str(error))


def options(words: Sequence[str], table: Table, warn: Warn) -> list[str]:
    """Returns the words of a command line under the new names. Raises BothGivenError.

    argparse accepts no value that begins with `--`, so every such word is an option.
    """
    given = [word.partition("=")[0] for word in words]
    names = {name: new_name(name, given, table, warn) for name in given}
    return [names[name] + word[len(name) :] for name, word in zip(given, words, strict=True)]
