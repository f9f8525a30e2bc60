"""Brings Superset's metadata database to the installed version, and sets the administrator's password.

Run with Superset's own Python and the environment that superset_config.py documents:

    metadata.py upgrade               makes or migrates the tables, roles and permissions (up to a minute)
    metadata.py administrator FILE    makes the user `admin` or gives it the password in FILE
    metadata.py password DB FILE      gives `admin` the password in FILE, in a file DB of SQLite

The first two do nothing a second time. One process does what takes `superset db upgrade`, `superset init` and
`superset fab create-admin` three, each of which spends five seconds on importing Superset. `password` does
not import it.
"""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

ADMINISTRATOR = "admin"
LOCK = 7_411_206
"""Any number, the same for all servers."""


def upgrade() -> None:
    """Migrates the schema to the newest version and synchronises roles."""
    from flask_migrate import upgrade as migrate_schema
    from superset import appbuilder, security_manager

    import tailrace_sso.registration
    from tailrace_pages import registration

    migrate_schema()
    tailrace_sso.registration.create_tables()
    appbuilder.add_permissions(update_perms=True)
    registration.add_permissions()
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


def set_password(database: Path, password: str) -> None:
    """Sets the administrator's password as Superset's own method does."""
    from werkzeug.security import generate_password_hash

    with closing(sqlite3.connect(database)) as metadata, metadata:
        changed = metadata.execute(
            "UPDATE ab_user SET password = ? WHERE username = ?",
            (generate_password_hash(password), ADMINISTRATOR),
        )
        if changed.rowcount != 1:
            sys.exit(f"{database} has no user {ADMINISTRATOR!r}")


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
    match arguments:
        case ["upgrade"]:
            with _superset():
                upgrade()
        case ["administrator", file]:
            with _superset():
                administrator(Path(file).read_text().strip())
        case ["password", database, file]:
            set_password(Path(database), Path(file).read_text().strip())
        case _:
            sys.exit(__doc__)


@contextmanager
def _superset() -> Iterator[None]:
    """Superset's application, as long as no other server does the same."""
    from superset.app import create_app

    with create_app().app_context(), alone():
        yield


if __name__ == "__main__":
    main(sys.argv[1:])
