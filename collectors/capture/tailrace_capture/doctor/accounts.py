"""Generates the minimal grants of capture's accounts, for a product and version."""

from collections.abc import Sequence

from tailrace_capture.product import Product

TABLES = ("user", "db", "tables_priv", "columns_priv", "procs_priv", "proxies_priv")


def grants_for(product: Product, account: str) -> dict[str, tuple[str, ...]]:
    """Returns by kind of fact the grants for an account, which is written as in SHOW GRANTS."""
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
        "digests": tuple(
            f"GRANT SELECT ON performance_schema.{table} TO {account};"
            for table in ("events_statements_summary_by_digest", "setup_consumers")
        ),
        "digest_histograms": (
            (f"GRANT SELECT ON performance_schema.events_statements_histogram_by_digest TO {account};",)
            if not product.is_mariadb and product.since(8)
            else ()
        ),
        "metadata_locks": tuple(
            f"GRANT SELECT ON performance_schema.{table} TO {account};"
            for table in ("metadata_locks", "threads", "setup_instruments")
        ),
        # Any privilege on a table makes its size visible; REFERENCES, without CREATE, permits nothing else.
        "table_sizes": (
            f"GRANT REFERENCES ON `shop`.* TO {account};  -- of each schema; see docs/CAPTURE.md",
        ),
    }


def explain_account(account: str) -> tuple[str, ...]:
    """Returns statements that create the account for EXPLAIN: it reads data and neither accounts nor
    settings, with a limit per hour."""
    return (
        f"CREATE USER {account} IDENTIFIED BY '…' WITH MAX_USER_CONNECTIONS 2 MAX_QUERIES_PER_HOUR 2000;",
        f"GRANT SELECT ON `shop`.* TO {account};  -- of each schema or table; see docs/CAPTURE.md",
    )


def narrowed(account: str, grants: Sequence[str]) -> tuple[str, ...]:
    """Returns statements that reduce an existing account to the privileges for EXPLAIN.

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
    """Returns the privilege for SHOW REPLICA STATUS: MariaDB 10.5 has a separate one."""
    return "SLAVE MONITOR" if product.is_mariadb and product.since(10, 5) else "REPLICATION CLIENT"


# All columns of mysql.user but the authentication string and resource limits.
_PRIVILEGES = (
    *("Select", "Insert", "Update", "Delete", "Create", "Drop", "Reload", "Shutdown", "Process", "File"),
    *("Grant", "References", "Index", "Alter", "Show_db", "Super", "Create_tmp_table", "Lock_tables"),
    *("Execute", "Repl_slave", "Repl_client", "Create_view", "Show_view", "Create_routine", "Alter_routine"),
    *("Create_user", "Event", "Trigger", "Create_tablespace"),
)
_ROLES = ("Create_role_priv", "Drop_role_priv")
"""Columns that MySQL has since 8.0."""
_COLUMNS = (
    *("Host", "User", "plugin", "account_locked", "password_expired", "password_last_changed"),
    *("password_lifetime", "ssl_type", "max_user_connections"),
    *(f"{name}_priv" for name in _PRIVILEGES),
)


def _columns_of_user(product: Product, account: str) -> str:
    """Returns a grant without authentication_string: whether a password is empty stays unknown."""
    roles = _ROLES if not product.is_mariadb and product.since(8) else ()
    return f"GRANT SELECT ({', '.join((*_COLUMNS, *roles))}) ON mysql.user TO {account};"
