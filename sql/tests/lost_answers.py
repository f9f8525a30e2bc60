"""A client of a real ClickHouse that loses answers to inserts, as if the connection broke after them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tailrace.clickhouse.client import ClickHouse


@dataclass(frozen=True)
class LosesAnswers(ClickHouse):
    """Stores all rows, and raises ConnectionError after an insert into each table of `lost`, once."""

    lost: list[str] = field(default_factory=list)

    def insert(self, table: str, rows: Iterable[Mapping[str, object]], **settings) -> None:
        super().insert(table, rows, **settings)
        if (name := table.split()[0]) in self.lost:
            self.lost.remove(name)
            raise ConnectionError(f"the answer of {self.url} is lost")


def losing(client: ClickHouse, *tables: str) -> LosesAnswers:
    """Returns the access of the same user, which loses the answer to the next insert into each table."""
    return LosesAnswers(client.url, client.user, client.password, client.authorities, list(tables))
