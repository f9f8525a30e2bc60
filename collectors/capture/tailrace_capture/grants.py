"""Reads grants of every level in one form: grantee, level, object, privileges.

Each reader of a level yields one fact for each grantee and object, and raises ServerError. An account without
a global privilege has no fact of that level.

The source are the grant tables. information_schema shows grants of others only to accounts with access to the
complete schema `mysql`; access to these tables can be granted one by one, and partly column by column.
"""

from collections.abc import Callable, Iterator

from tailrace_capture.account_names import account, quote
from tailrace_capture.facts import Fact, is_yes, text
from tailrace_capture.server import Server, ServerError

GRANT_OPTION = "GRANT OPTION"

# Columns *_priv of mysql.user and mysql.db whose privilege is not the column's name with spaces.
_NAMES = {
    "show_db": "SHOW DATABASES",
    "create_tmp_table": "CREATE TEMPORARY TABLES",
    "lock_tables": "LOCK TABLES",
    "repl_slave": "REPLICATION SLAVE",
    "repl_client": "REPLICATION CLIENT",
    "grant": GRANT_OPTION,
    "delete_history": "DELETE HISTORY",
    "truncate_versioning": "DELETE HISTORY",
}
# MariaDB's sql/privilege.h, bit by bit from 0; 39 since 11.3. BINLOG MONITOR is REPLICATION CLIENT before
# 10.5.
_MARIADB_BITS = (
    *("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "RELOAD", "SHUTDOWN", "PROCESS", "FILE"),
    *(GRANT_OPTION, "REFERENCES", "INDEX", "ALTER", "SHOW DATABASES", "SUPER", "CREATE TEMPORARY TABLES"),
    *("LOCK TABLES", "EXECUTE", "REPLICATION SLAVE", "BINLOG MONITOR", "CREATE VIEW", "SHOW VIEW"),
    *("CREATE ROUTINE", "ALTER ROUTINE", "CREATE USER", "EVENT", "TRIGGER", "CREATE TABLESPACE"),
    *("DELETE HISTORY", "SET USER", "FEDERATED ADMIN", "CONNECTION ADMIN", "READ_ONLY ADMIN"),
    *("REPLICATION SLAVE ADMIN", "REPLICATION MASTER ADMIN", "BINLOG ADMIN", "BINLOG REPLAY"),
    *("SLAVE MONITOR", "SHOW CREATE ROUTINE"),
)

Reader = Callable[[Server], Iterator[Fact]]


def _fact(grantee: str, level: str, target: str, privileges: set[str]) -> Fact:
    attributes = {
        "grantee": grantee,
        "level": level,
        "object": target,
        "privileges": ", ".join(sorted(privileges - {GRANT_OPTION})) or "USAGE",
        "grant_option": "yes" if GRANT_OPTION in privileges else "no",
    }
    return Fact(f"{grantee} {level} {target}", attributes)


def _global(server: Server) -> Iterator[Fact]:
    if server.product.is_mariadb and server.columns("mysql", "global_priv"):
        statement = "SELECT Host, User, JSON_VALUE(Priv, '$.access') AS access FROM mysql.global_priv"
        by_grantee = {
            account(row["User"], row["Host"]): privileges_of_bits(int(text(row["access"]) or 0))
            for row in server.rows(statement)
        }
    else:
        by_grantee = _static_global(server)
        for grantee, privileges in _dynamic_global(server).items():
            by_grantee.setdefault(grantee, set()).update(privileges)
    for grantee, privileges in by_grantee.items():
        if privileges:
            yield _fact(grantee, "global", "*.*", privileges)


def privileges_of_bits(access: int) -> set[str]:
    """Converts MariaDB's number `access` to privileges; unknown bits are named by their number."""
    if access == 2**64 - 1:
        return {"ALL PRIVILEGES", GRANT_OPTION}
    bits = [bit for bit in range(access.bit_length()) if access >> bit & 1]
    return {_MARIADB_BITS[bit] if bit < len(_MARIADB_BITS) else f"BIT {bit}" for bit in bits}


def _static_global(server: Server) -> dict[str, set[str]]:
    columns = [name for lower, name in server.columns("mysql", "user").items() if lower.endswith("_priv")]
    if not columns:
        raise ServerError("denied", 0, "no privilege column of mysql.user may be read")
    rows = server.rows(f"SELECT Host, User, {', '.join(columns)} FROM mysql.user")
    return {account(row["User"], row["Host"]): _granted(row) for row in rows}


def _dynamic_global(server: Server) -> dict[str, set[str]]:
    """Returns the dynamic privileges of MySQL 8. Each has its grant option, which becomes part of the
    name."""
    found: dict[str, set[str]] = {}
    if server.product.is_mariadb or not server.product.since(8):
        return found
    for row in server.rows("SELECT USER, HOST, PRIV, WITH_GRANT_OPTION FROM mysql.global_grants"):
        suffix = " WITH GRANT OPTION" if is_yes(row["WITH_GRANT_OPTION"]) else ""
        found.setdefault(account(row["USER"], row["HOST"]), set()).add(f"{row['PRIV']}{suffix}")
    return found


def _granted(row: dict[str, object]) -> set[str]:
    """Returns the privileges of a row of Y and N."""
    names = [name.lower().removesuffix("_priv") for name, value in row.items() if _is_granted(name, value)]
    return {_NAMES.get(name, name.replace("_", " ").upper()) for name in names}


def _is_granted(column: str, value: object) -> bool:
    return column.lower().endswith("_priv") and is_yes(value)


def _words_of_set(words: object) -> set[str]:
    """Returns the privileges of a SET column: `Select,Grant`."""
    names = [word.strip().lower() for word in text(words).split(",") if word.strip()]
    return {_NAMES.get(name, name.upper()) for name in names}


def _schemas(server: Server) -> Iterator[Fact]:
    for row in server.rows("SELECT * FROM mysql.db"):
        if privileges := _granted(row):
            yield _fact(account(row["User"], row["Host"]), "schema", f"{_name(row['Db'])}.*", privileges)


def _tables(server: Server) -> Iterator[Fact]:
    statement = "SELECT Host, Db, User, Table_name, Table_priv FROM mysql.tables_priv"
    for row in server.rows(statement):
        if privileges := _words_of_set(row["Table_priv"]):
            target = f"{_name(row['Db'])}.{_name(row['Table_name'])}"
            yield _fact(account(row["User"], row["Host"]), "table", target, privileges)


def _columns(server: Server) -> Iterator[Fact]:
    statement = "SELECT Host, Db, User, Table_name, Column_name, Column_priv FROM mysql.columns_priv"
    for row in server.rows(statement):
        target = f"{_name(row['Db'])}.{_name(row['Table_name'])}({_name(row['Column_name'])})"
        yield _fact(account(row["User"], row["Host"]), "column", target, _words_of_set(row["Column_priv"]))


def _routines(server: Server) -> Iterator[Fact]:
    statement = "SELECT Host, Db, User, Routine_name, Routine_type, Proc_priv FROM mysql.procs_priv"
    for row in server.rows(statement):
        target = f"{text(row['Routine_type']).lower()} {_name(row['Db'])}.{_name(row['Routine_name'])}"
        yield _fact(account(row["User"], row["Host"]), "routine", target, _words_of_set(row["Proc_priv"]))


def _proxies(server: Server) -> Iterator[Fact]:
    statement = "SELECT Host, User, Proxied_host, Proxied_user, With_grant FROM mysql.proxies_priv"
    for row in server.rows(statement):
        target = f"{quote(row['Proxied_user'])}@{quote(row['Proxied_host'])}"
        privileges = {"PROXY"} | ({GRANT_OPTION} if is_yes(row["With_grant"]) else set())
        yield _fact(account(row["User"], row["Host"]), "proxy", target, privileges)


def _name(name: object) -> str:
    return "`{}`".format(text(name).replace("`", "``"))


# One kind of facts for each level, so that a denied level neither hides another nor looks empty.
LEVELS: dict[str, Reader] = {
    "global": _global,
    "schema": _schemas,
    "table": _tables,
    "column": _columns,
    "routine": _routines,
    "proxy": _proxies,
}
