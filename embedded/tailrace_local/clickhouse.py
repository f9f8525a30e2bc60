"""The ClickHouse of this machine's stack."""

from tailrace.clickhouse.client import ClickHouse
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.credentials.names import password_name


def connect(settings: Settings, home: Home, user: str) -> ClickHouse:
    """Returns the local ClickHouse for one of its users."""
    url = f"http://127.0.0.1:{settings.port_clickhouse}"
    return ClickHouse(url, user, home.secret(password_name(user)))
