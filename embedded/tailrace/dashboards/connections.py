"""The users of Superset, and its connections to ClickHouse."""

import urllib.parse
from collections.abc import Callable
from pathlib import Path

from tailrace.credentials.names import password_name

ADMINISTRATOR = "admin"
PASSWORD = "superset-admin"
DATABASE_USERS = {
    "tailrace": "reader_developer",
    "tailrace_audit": "reader_compliance",
    "tailrace_security": "reader_security",
    "tailrace_unmasked": "reader_unmasked",
}
"""The ClickHouse users that run the queries of dashboards, by file of dashboards/databases."""
RECORDER = "witness"
"""The user of ClickHouse that records unmasked accesses."""
ANALYST = "analyst"
"""The user of ClickHouse with which the alert inbox records actions; the same as of `tailrace alerts`."""
USERS = ("developer", "compliance", "security")
"""Users of the local Superset besides the administrator, each with the role of the same key."""

Connections = dict[str, tuple[str, str]]
"""Address and password of ClickHouse, by file of dashboards/databases."""


def password_of(user: str) -> str:
    """Returns the name of the password of a Superset user."""
    return f"superset-{user}"


def connections_to(
    clickhouse: str, secret: Callable[[str], str], has_tls: bool = False, authorities: Path | None = None
) -> Connections:
    """Returns the connections to one ClickHouse.

    `clickhouse` is `host:port` of its HTTP listener as Superset reaches it; `secret` returns a password by
    its name. `authorities`: a PEM file of those that sign its certificate, where Superset reads it. With TLS
    and without such a file, the driver trusts the authorities of the system, and those in the file that
    Superset's environment names as SSL_CERT_FILE.
    """
    tls = {"secure": "true"} if has_tls or authorities else {}
    if authorities:
        tls |= {"verify": "true", "ca_cert": str(authorities)}
    query = f"?{urllib.parse.urlencode(tls)}" if tls else ""
    return {
        name: (f"clickhousedb://{user}:XXXXXXXXXX@{clickhouse}/tailrace{query}", secret(password_name(user)))
        for name, user in DATABASE_USERS.items()
    }
