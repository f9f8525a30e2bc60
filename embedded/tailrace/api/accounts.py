"""The users of ClickHouse that requests use.

Reads go through the reader of the token's role, so that its rights, row policies and limits hold. The user
`api` reads tokens and adds requests; `analyst` adds actions on alerts, as for `tailrace alerts`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tailrace.clickhouse.client import ClickHouse
from tailrace.reading.rows import Rows, reader

SERVICE = "api"
ANALYST = "analyst"
SECONDS = 20
"""The time limit of a query."""
LIMITS = {"max_execution_time": SECONDS, "max_result_rows": 200_000}


@dataclass(frozen=True)
class Accounts:
    """Access to one ClickHouse as several users."""

    connect: Callable[[str], ClickHouse]
    """Returns the access of a user by name."""

    def service(self) -> ClickHouse:
        return self.connect(SERVICE)

    def analyst(self) -> ClickHouse:
        return self.connect(ANALYST)

    def of_role(self, role: str) -> ClickHouse:
        return self.connect(f"reader_{role}")

    def rows(self, role: str) -> Rows:
        """Returns a function that runs queries as a role, within LIMITS."""
        return reader(self.of_role(role), SECONDS + 10, **LIMITS)
