"""The ClickHouse of this machine's stack."""

from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.credentials.names import password_name


def connect(settings: Settings, home: Home, user: str) -> ClickHouse:
    """Returns the local ClickHouse for one of its users."""
    return ClickHouse(_address(settings), user, home.secret(password_name(user)))


def as_arguments(settings: Settings, home: Home, user: str) -> list[str | Path]:
    """Returns the command-line options of a program for that user of the local ClickHouse."""
    password = home.secret_file(password_name(user))
    return ["--clickhouse", _address(settings), "--user", user, "--password-file", password]


def _address(settings: Settings) -> str:
    return f"http://127.0.0.1:{settings.port_clickhouse}"
