"""The account by which pages add rows: ClickHouse's user `analyst`, which can neither change nor delete them.

SUPERSET_ANALYST_URL, SUPERSET_ANALYST_PASSWORD_FILE    address and password of `analyst`
"""

import os
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace_pages.page_errors import UnavailableError

ACCOUNT = "analyst"


def is_there() -> bool:
    """Whether this Superset has the account."""
    return "SUPERSET_ANALYST_URL" in os.environ


def clickhouse() -> ClickHouse:
    """Returns the access of the account. Raises UnavailableError."""
    if not is_there():
        raise UnavailableError("This Superset has no account for actions: docs/ALERTS.md, the alert inbox.")
    password = Path(os.environ["SUPERSET_ANALYST_PASSWORD_FILE"]).read_text().strip()
    return ClickHouse(os.environ["SUPERSET_ANALYST_URL"], ACCOUNT, password)
