"""The ClickHouse of this machine's stack."""

from collections.abc import Mapping
from pathlib import Path

from tailrace.clickhouse.client import AUTHORITIES, ClickHouse
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.credentials.certificates import Certificates
from tailrace.credentials.names import password_name


def connect(settings: Settings, home: Home, user: str) -> ClickHouse:
    """Returns the local ClickHouse for one of its users."""
    secret = home.secret(password_name(user))
    return ClickHouse(address(settings, home), user, secret, environment(home).get(AUTHORITIES, ""))


def as_arguments(settings: Settings, home: Home, user: str) -> list[str | Path]:
    """Returns the command-line options of a program for that user of the local ClickHouse."""
    password = home.secret_file(password_name(user))
    return ["--clickhouse", address(settings, home), "--user", user, "--password-file", password]


def address(settings: Settings, home: Home) -> str:
    """Returns the address of its HTTP interface: with TLS if the stack is secured."""
    scheme = "https" if Certificates(home).exist() else "http"
    return f"{scheme}://127.0.0.1:{settings.port_clickhouse}"


def environment(home: Home) -> Mapping[str, str]:
    """Returns the variables with which programs verify its certificate; none if the stack is not secured."""
    certificates = Certificates(home)
    return {AUTHORITIES: str(certificates.trust)} if certificates.exist() else {}
