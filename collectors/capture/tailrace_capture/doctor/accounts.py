"""The least that the account of collectors/capture needs, as statements for a product and version."""

from collections.abc import Sequence

from tailrace_capture.server import Product

TABLES = ("user", "db", "tables_priv", "columns_priv", "procs_priv", "proxies_priv")


def grants_for(product: Product, account: str) -> dict[str, tuple[str, ...]]:
    """By kind of fact, what lets an account, written as in SHOW GRANTS, see it."""
    tables = {name: f"GRANT SELECT ON mysql.{name} TO {account};" for name in _tables(product)}
    accounts = tables["global_priv"] if "global_priv" in tables else _columns_of_user(product, account)
    edges = [tables[name] for name in ("roles_mapping", "role_edges", "default_roles") if name in tables]
    global_grants = (tables["global_grants"],) if "global_grants" in tables else ()
    return {
        "accounts": (accounts,),
        "roles": tuple(edges),
        "grants_global": (accounts, *global_grants),
        "grants_schema": (tables["db"],),
        "grants_table": (tables["tables_priv"],),
        "grants_column": (tables["columns_priv"],),
        "grants_routine": (tables["procs_priv"],),
        "grants_proxy": (tables["proxies_priv"],),
        "replication": (f"GRANT {_replication(product)} ON *.* TO {account};",),
        "audit": (tables["component"],) if "component" in tables else (),
        # Any privilege on a table shows its size; this one, without CREATE, permits nothing.
        "table_sizes": (
            f"GRANT REFERENCES ON `shop`.* TO {account};  -- of each schema; see docs/CAPTURE.md",
        ),
    }


def explain_account(account: str) -> tuple[str, ...]:
    """Makes the account that explains: it reads data and neither accounts nor settings, and little of it an
    hour."""
    return (
        f"CREATE USER {account} IDENTIFIED BY '…' WITH MAX_USER_CONNECTIONS 2 MAX_QUERIES_PER_HOUR 2000;",
        f"GRANT SELECT ON `shop`.* TO {account};  -- of each schema or table; see docs/CAPTURE.md",
    )


def narrowed(account: str, grants: Sequence[str]) -> tuple[str, ...]:
    """Makes an account that exists one that explains.

    Parameters
    ----------
    grants : its rows of SHOW GRANTS
    """
    _made, may_read = explain_account(account)
    roles = [grant.removeprefix("GRANT ").partition(" TO ")[0] for grant in grants if " ON " not in grant]
    return (
        f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM {account};",
        *(f"REVOKE {role} FROM {account};" for role in roles),
        may_read,
    )


def _tables(product: Product) -> tuple[str, ...]:
    if product.is_mariadb:
        own = ("global_priv", "roles_mapping") if product.since(10, 4) else ("roles_mapping",)
        return (*TABLES, *own)
    own = ("role_edges", "default_roles", "global_grants", "component") if product.since(8) else ()
    return (*TABLES, *own)


def _replication(product: Product) -> str:
    """SHOW REPLICA STATUS: MariaDB 10.5 has a privilege of its own for it."""
    return "SLAVE MONITOR" if product.is_mariadb and product.since(10, 5) else "REPLICATION CLIENT"


# All columns of mysql.user but the authentication string and what only resource limits are about.
_PRIVILEGES = (
    *("Select", "Insert", "Update", "Delete", "Create", "Drop", "Reload", "Shutdown", "Process", "File"),
    *("Grant", "References", "Index", "Alter", "Show_db", "Super", "Create_tmp_table", "Lock_tables"),
    *("Execute", "Repl_slave", "Repl_client", "Create_view", "Show_view", "Create_routine", "Alter_routine"),
    *("Create_user", "Event", "Trigger", "Create_tablespace"),
)
_ROLES = ("Create_role_priv", "Drop_role_priv")
"""MySQL has them from 8.0 on."""
_COLUMNS = (
    *("Host", "User", "plugin", "account_locked", "password_expired", "password_last_changed"),
    *("password_lifetime", "ssl_type", "max_user_connections"),
    *(f"{name}_priv" for name in _PRIVILEGES),
)


def _columns_of_user(product: Product, account: str) -> str:
    """Without authentication_string: whether a password is empty stays unknown then."""
    roles = _ROLES if not product.is_mariadb and product.since(8) else ()
    return f"GRANT SELECT ({', '.join((*_COLUMNS, *roles))}) ON mysql.user TO {account};"
