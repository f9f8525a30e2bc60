"""Commands that need ClickHouse only, such as `tokens`, for one that runs elsewhere than the command."""

from collections.abc import Sequence
from pathlib import Path

from tailrace.cli import main as command_line
from tailrace.cli.context import Context
from tailrace.clickhouse.client import ClickHouse
from tailrace.credentials.names import password_name


def run(words: Sequence[str], url: str, directory: Path) -> int:
    """Runs `tailrace WORDS` with the ClickHouse at `url`; returns its exit code.

    `directory` contains passwords and keys, by their names in `secrets/` of the home directory.
    """

    class WithClickHouse(Context):
        @property
        def secrets(self) -> Path:
            return directory

        def clickhouse(self, user: str) -> ClickHouse:
            return ClickHouse(url, user, (directory / password_name(user)).read_text().strip())

    return command_line.main(words, [command_line.Extension(context=WithClickHouse)])
