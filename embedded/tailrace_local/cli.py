"""The commands of the one-machine stack, and the command line with all commands."""

from collections.abc import Sequence

from tailrace.cli import java_command_line
from tailrace.cli import main as command_line
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.cli.main import Extension
from tailrace_local.context import LocalContext

DOCTOR = "doctor"


def _doctor(words: Sequence[str], context: Context) -> Exit:
    from tailrace_local.commands import doctor

    return doctor.execute(words, context)


def _java(words: Sequence[str], context: Context) -> Exit:
    from tailrace_local.commands import java

    return java.execute(words, context)


EXTENSION = Extension(
    commands={
        name: f"tailrace_local.commands.{name}"
        for name in (
            *("demo", "up", "down", "status", "restart", "logs", "savepoint", "rewind", "backup", "restore"),
            *(DOCTOR, "settings"),
        )
    },
    executed={DOCTOR: _doctor, **dict.fromkeys(java_command_line.COMMANDS, _java)},
    context=LocalContext,
)


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    return command_line.main(words, [EXTENSION])
