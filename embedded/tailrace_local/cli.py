"""The commands of the one-machine stack, and the command line with all commands."""

from collections.abc import Sequence

from tailrace.cli import java_command_line
from tailrace.cli import main as command_line
from tailrace.cli.main import Extension
from tailrace_local.backup import BackupError
from tailrace_local.checkpoints import CheckpointError
from tailrace_local.commands import (
    backup,
    demo,
    doctor,
    down,
    java,
    logs,
    restart,
    restore,
    rewind,
    savepoint,
    settings,
    status,
    up,
)
from tailrace_local.context import LocalContext
from tailrace_local.preflight import PreflightError
from tailrace_local.supervisor.component import InstallError
from tailrace_local.supervisor.control import RefusedError
from tailrace_local.supervisor.daemon import DaemonError
from tailrace_local.supervisor.start import StartError
from tailrace_local.supervisor.supervisor import AlreadyRunningError

EXTENSION = Extension(
    commands={
        "demo": demo,
        "up": up,
        "down": down,
        "status": status,
        "restart": restart,
        "logs": logs,
        "savepoint": savepoint,
        "rewind": rewind,
        "backup": backup,
        "restore": restore,
        "settings": settings,
    },
    executed={doctor.NAME: doctor.execute, **dict.fromkeys(java_command_line.COMMANDS, java.execute)},
    help={doctor.NAME: doctor.HELP},
    order=(
        *("demo", "up", "down", "status", "health", "restart", "logs"),
        *("books", "alerts", "reports", "review", "evidence", "backfill"),
        *("credentials", "dashboards"),
        *("savepoint", "rewind", "backup", "restore", "migrate", "settings"),
    ),
    failures=(
        AlreadyRunningError,
        BackupError,
        CheckpointError,
        DaemonError,
        InstallError,
        PreflightError,
        RefusedError,
        StartError,
    ),
    context=LocalContext,
)


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    return command_line.main(words, [EXTENSION])
