"""Reads the descriptions of the Java commands from java_commands.json.

`make cli-reference` writes that file from the options that the Java code declares. A test of the Java code
fails if it differs. So `tailrace digest --help` needs neither the JVM nor a build.
"""

import json
from pathlib import Path

from tailrace.cli.help.model import CommandHelp, Value

FILE = Path(__file__).with_name("java_commands.json")


def commands() -> dict[str, CommandHelp]:
    """Returns the help of the Java commands by name."""
    return {each["name"]: _command(each) for each in json.loads(FILE.read_text())}


def find(words: list[str], about: CommandHelp) -> CommandHelp:
    """Returns the help of the subcommand that the words name, or that of the command."""
    for subcommand in about.subcommands:
        if subcommand.name.split()[-1] in words[1:]:
            return subcommand
    return about


def _command(given: dict) -> CommandHelp:
    return CommandHelp(
        given["name"],
        given["purpose"],
        tuple(given["details"]),
        tuple(map(_value, given["arguments"])),
        tuple(map(_value, given["options"])),
        tuple(map(_command, given["subcommands"])),
        keys=given["keys"],
        examples=tuple(given["examples"]),
        exit_codes=tuple((int(code), meaning) for code, meaning in given["exit_codes"].items()),
        see_also=tuple(given["see_also"]),
    )


def _value(given: dict) -> Value:
    return Value(**{**given, "names": tuple(given["names"]), "choices": tuple(given["choices"])})
