"""The description of one command: the sections of its help, in their order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

FILE, DIRECTORY, COMPONENT = "file", "directory", "component"
"""What a value names, other than one of fixed choices; empty: free text."""

_SENTENCE_END = re.compile(r"(?<=[.])\s+(?=[A-Z`])")
_DEFAULT = re.compile(r"\s*\(default: ([^()]*)\)$")


@dataclass(frozen=True)
class Value:
    """An option or an argument."""

    names: tuple[str, ...]
    """`-n` and `--lines` of an option; the placeholder of an argument."""
    placeholder: str
    """The placeholder of an option's value; empty for a switch."""
    help: str
    required: bool = False
    repeated: bool = False
    """An argument that may be given more than once."""
    kind: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class CommandHelp:
    """One command or subcommand."""

    name: str
    """All its words without `tailrace`, such as `alerts list`."""
    purpose: str
    """One sentence."""
    details: tuple[str, ...] = ()
    """Paragraphs; a line that begins with a space is not wrapped."""
    arguments: tuple[Value, ...] = ()
    options: tuple[Value, ...] = ()
    subcommands: tuple["CommandHelp", ...] = ()
    subcommand_required: bool = True
    keys: dict[str, str] = field(default_factory=dict)
    """The meaning of each key of a row, for commands with `--output`."""
    examples: tuple[str, ...] = ()
    exit_codes: tuple[tuple[int, str], ...] = ()
    see_also: tuple[str, ...] = ()

    def walk(self) -> Iterator["CommandHelp"]:
        """Yields the command and all its subcommands."""
        yield self
        for subcommand in self.subcommands:
            yield from subcommand.walk()

    def usage(self) -> list[str]:
        """Returns the lines of the section Usage."""
        required = [f"{each.names[-1]} {each.placeholder}".strip() for each in self.options if each.required]
        arguments = map(_argument_in_usage, self.arguments)
        own = " ".join(["tailrace", self.name, *required, "[OPTIONS]", *arguments])
        deeper = f"tailrace {self.name} SUBCOMMAND"
        if not self.subcommands:
            return [own]
        return [deeper] if self.subcommand_required else [own, deeper]


def _argument_in_usage(argument: Value) -> str:
    name = argument.names[0]
    if argument.required:
        return f"{name} [{name} …]" if argument.repeated else name
    return f"[{name} …]" if argument.repeated else f"[{name}]"


def paragraphs(text: str) -> tuple[str, tuple[str, ...]]:
    """Returns the first sentence of a docstring, and the paragraphs after it."""
    first, *rest = [part.strip("\n") for part in text.strip().split("\n\n")]
    sentence, *more = _SENTENCE_END.split(" ".join(first.split()), maxsplit=1)
    return sentence, (*more, *rest)


def sentence(text: str) -> str:
    """Returns the help of an option as a sentence, with its default as the last one."""
    text = _DEFAULT.sub(r". Default: \1", text.strip())
    first, separator, rest = text.partition(" ")
    text = f"{_capitalized(first)}{separator}{rest}"
    return text if not text or text.endswith((".", "…")) else f"{text}."


def _capitalized(word: str) -> str:
    """Names of files and addresses keep their case."""
    return word[:1].upper() + word[1:] if word.strip(",:;'").isalpha() else word
