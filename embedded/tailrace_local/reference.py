"""Writes the reference of the command line: `python -m tailrace_local.reference java|man|page TARGET`."""

import argparse
import importlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tailrace.cli import java_command_line
from tailrace.cli import main as command_line
from tailrace.cli.help import catalog, markdown, roff
from tailrace.config import command_line_jar
from tailrace.config.settings import Settings
from tailrace_local import java_build
from tailrace_local.cli import EXTENSION


def modules() -> Mapping[str, str]:
    """Returns the modules of all Python commands."""
    return {**command_line.OWN.commands, **EXTENSION.commands}


def man_pages() -> dict[str, str]:
    """Returns the manual pages by file name."""
    summaries = {name: importlib.import_module(module).HELP for name, module in modules().items()}
    return roff.pages(catalog.everything(modules()), {**summaries, **java_command_line.COMMANDS})


def page() -> str:
    """Returns the text of docs/CLI.md."""
    return markdown.page(catalog.overview(modules()), catalog.everything(modules()))


def java_commands(settings: Settings) -> str:
    """Returns the descriptions that the Java code gives of its commands, for help/java_commands.json."""
    command = [
        "java",
        "-cp",
        java_build.jar(settings, command_line_jar.NAME),
        "io.tailrace.cli.HelpJson",
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Writes java_commands.json or docs/CLI.md to a file, or the manual pages to a directory."""
    parser = argparse.ArgumentParser(prog="python -m tailrace_local.reference")
    parser.add_argument("form", choices=("java", "man", "page"))
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    if arguments.form != "man":
        content = page() if arguments.form == "page" else java_commands(Settings.from_environment())
        arguments.target.write_text(content)
        return 0
    arguments.target.mkdir(parents=True, exist_ok=True)
    for name, content in man_pages().items():
        (arguments.target / name).write_text(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
