"""Prints a script with which a shell completes commands, subcommands, options and values.

The script is static: a shell that has loaded it starts nothing when it completes. Print it again after an
upgrade.
"""

import argparse

from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.cli.help import catalog, completion

HELP = "print the completion script of a shell: bash, zsh or fish"
EXAMPLES = (
    "source <(tailrace completion bash)              # in this shell; append it to ~/.bashrc for all",
    "tailrace completion bash > /etc/bash_completion.d/tailrace",
    'tailrace completion zsh > "${fpath[1]}/_tailrace"',
    "tailrace completion fish > ~/.config/fish/completions/tailrace.fish",
)
SEE_ALSO = ("tailrace --help", "docs/CLI.md")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=completion.SHELLS, help="the shell")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    commands = catalog.everything(context.commands)
    print(completion.SHELLS[arguments.shell](commands), end="")
    return Exit.OK
