"""Commands that need ClickHouse only, such as `tokens`, for one that runs elsewhere than the command."""

from collections.abc import Callable, Sequence

from tailrace.cli import main as command_line
from tailrace.cli.context import Context
from tailrace.clickhouse.client import ClickHouse
from tailrace.credentials.names import password_name


def run(words: Sequence[str], url: str, secret: Callable[[str], str]) -> int:
    """Runs `tailrace WORDS` with the ClickHouse at `url`; returns its exit code.

    `secret` returns a password by its name.
    """

    class WithClickHouse(Context):
        def clickhouse(self, user: str) -> ClickHouse:
            return ClickHouse(url, user, secret(password_name(user)))

    return command_line.main(words, [command_line.Extension(context=WithClickHouse)])
