"""The subcommands of bin/tailrace, one module each.

A module has HELP (one line), EXAMPLES (command lines), `configure(parser)` where it takes arguments, and
`run(arguments, context)`, which returns an Exit. Errors are raised; `tailrace.cli` turns them into a sentence
and an exit code.
"""

from dataclasses import dataclass

from tailrace import accounts
from tailrace.clickhouse import ClickHouse
from tailrace.home import Home
from tailrace.settings import Settings
from tailrace.stack import control


@dataclass(frozen=True)
class Context:
    """What every command gets."""

    settings: Settings
    home: Home

    def clickhouse(self, user: str) -> ClickHouse:
        """The running stack's ClickHouse as one of its users. Raises NotRunningError."""
        control.status(self.home)
        return accounts.connect(self.settings, self.home, user)


class CommandError(RuntimeError):
    """What was asked for cannot be done; the message is the sentence to show."""
