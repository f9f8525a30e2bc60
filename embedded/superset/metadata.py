"""Brings Superset's metadata database to the installed version, and sets the administrator's password.

Run with Superset's own Python and the environment that superset_config.py documents:

    metadata.py upgrade               makes or migrates the tables, roles and permissions (up to a minute)
    metadata.py administrator FILE    makes the user `admin` or gives it the password in FILE

Both do nothing a second time. One process does what takes `superset db upgrade`, `superset init` and
`superset fab create-admin` three, each of which spends five seconds on importing Superset.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from superset.app import create_app

ADMINISTRATOR = "admin"
LOCK = 7_411_206
"""Any number, the same for all servers."""


def upgrade() -> None:
    """Migrates the schema to the newest version and synchronises roles."""
    from flask_migrate import upgrade as migrate_schema
    from superset import appbuilder, security_manager

    migrate_schema()
    appbuilder.add_permissions(update_perms=True)
    security_manager.sync_role_definitions()


def administrator(password: str) -> None:
    """Makes sure that the administrator exists with this password."""
    from superset import security_manager

    user = security_manager.find_user(ADMINISTRATOR)
    if user:
        security_manager.reset_password(user.id, password)
        return
    role = security_manager.find_role("Admin")
    added = security_manager.add_user(
        ADMINISTRATOR, "Tailrace", "Administrator", "admin@localhost.localdomain", role, password
    )
    if not added:
        sys.exit(f"Superset refused to add the user {ADMINISTRATOR!r}; its log above says why")


@contextmanager
def alone() -> Iterator[None]:
    """Waits for other servers that share a PostgreSQL and start too. SQLite has one server only."""
    from superset import db

    if db.engine.dialect.name != "postgresql":
        yield
        return
    with db.engine.connect() as connection:
        connection.exec_driver_sql(f"SELECT pg_advisory_lock({LOCK})")
        yield


def main(arguments: list[str]) -> None:
    with create_app().app_context(), alone():
        match arguments:
            case ["upgrade"]:
                upgrade()
            case ["administrator", file]:
                administrator(Path(file).read_text().strip())
            case _:
                sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
