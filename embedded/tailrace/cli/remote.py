"""Commands that need ClickHouse, such as `tokens`, or Kafka, where these run elsewhere than the command."""

from collections.abc import Sequence
from pathlib import Path

from tailrace.cli import main as command_line
from tailrace.cli.context import UNKNOWN_STATE, Context
from tailrace.clickhouse.client import ClickHouse
from tailrace.credentials.names import password_name
from tailrace.kafka.client import KafkaClient


def run(words: Sequence[str], url: str, directory: Path, kafka: KafkaClient | None = None) -> int:
    """Runs `tailrace WORDS` with the ClickHouse at `url`; returns its exit code.

    `directory` contains passwords and keys, by their names in `secrets/` of the home directory. `kafka` has
    the account that the command needs; without it, commands that need Kafka report that no stack is running.
    """

    class Elsewhere(Context):
        @property
        def secrets(self) -> Path:
            return directory

        def clickhouse(self, user: str) -> ClickHouse:
            return ClickHouse(url, user, (directory / password_name(user)).read_text().strip())

        def kafka(self, account: str) -> KafkaClient:
            return kafka or super().kafka(account)

        def component_state(self, name: str) -> str | None:
            return UNKNOWN_STATE if kafka else super().component_state(name)

    return command_line.main(words, [command_line.Extension(context=Elsewhere)])
