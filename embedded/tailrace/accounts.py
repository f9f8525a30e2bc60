"""This installation's accounts at ClickHouse: users of sql/users/users.xml.template, and their passwords."""

from tailrace.clickhouse import ClickHouse
from tailrace.home import Home
from tailrace.settings import Settings


def password_name(user: str) -> str:
    """The name in Home.secret of a user's password, such as `clickhouse-reader_developer`."""
    return f"clickhouse-{user}"


def connect(settings: Settings, home: Home, user: str) -> ClickHouse:
    """The embedded ClickHouse as seen by one of its users."""
    url = f"http://127.0.0.1:{settings.port_clickhouse}"
    return ClickHouse(url, user, home.secret(password_name(user)))
