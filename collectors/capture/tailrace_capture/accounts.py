"""Reads accounts: user, host, authentication plugin, age of the password, and locks.

Never reads the authentication string. The server itself compares it with the empty string, to report a
missing password; if the column is not readable, the result is `unknown`.

Sources: `mysql.user` on MySQL 5.7 to 9; `mysql.global_priv` on MariaDB 10.4 and later, whose `mysql.user`
is a view without locks and ages.
"""

import time

from tailrace_capture.account_names import account
from tailrace_capture.facts import Fact, is_yes, text, yes_or_no
from tailrace_capture.server import Server, ServerError

# sql/sql_acl.h of MariaDB: enum SSL_type, stored as a number in global_priv.
_MARIADB_TLS = {"": "none", "0": "none", "1": "any", "2": "x509", "3": "specified"}
# MySQL's mysql.user.ssl_type: '', ANY, X509, SPECIFIED.
_MYSQL_TLS = {"": "none", "any": "any", "x509": "x509", "specified": "specified"}

# The columns of mysql.user that are read if they exist: all of 5.7 to 9, without any secret.
_WANTED = (
    "host",
    "user",
    "plugin",
    "account_locked",
    "password_expired",
    "password_lifetime",
    "ssl_type",
    "is_role",
    "max_user_connections",
)
_GLOBAL_PRIV = """\
SELECT Host AS host, User AS user,
  JSON_VALUE(Priv, '$.plugin') AS plugin,
  JSON_VALUE(Priv, '$.account_locked') AS account_locked,
  JSON_VALUE(Priv, '$.is_role') AS is_role,
  JSON_VALUE(Priv, '$.ssl_type') AS ssl_type,
  JSON_VALUE(Priv, '$.password_lifetime') AS password_lifetime,
  JSON_VALUE(Priv, '$.password_last_changed') AS changed_at,
  COALESCE(JSON_VALUE(Priv, '$.authentication_string'), '') = '' AS no_password,
  JSON_QUERY(Priv, '$.auth_or') IS NOT NULL AS several
FROM mysql.global_priv"""


def read(server: Server) -> list[Fact]:
    """Returns one fact for each account or role. Raises ServerError."""
    if server.product.is_mariadb and server.columns("mysql", "global_priv"):
        return [_fact_of_global_priv(row) for row in server.rows(_GLOBAL_PRIV)]
    return [_fact_of_user_row(row) for row in server.rows(_user_statement(server))]


def _fact_of_global_priv(row: dict[str, object]) -> Fact:
    changed = int(text(row["changed_at"]) or 0)
    is_role = is_yes(row["is_role"])
    return Fact(
        account(row["user"], row["host"]),
        {
            "user": text(row["user"]),
            "host": text(row["host"]),
            # The document lacks the key: mysql_native_password without a password.
            "plugin": text(row["plugin"]) or ("" if is_role else "mysql_native_password"),
            "several_plugins": yes_or_no(row["several"]),
            "role": yes_or_no(is_role),
            "locked": yes_or_no(row["account_locked"]),
            # MariaDB expires a password by setting the time of its last change to 0 (sql_acl.cc).
            "password_expired": yes_or_no(text(row["changed_at"]) == "0"),
            "password_changed_at": _time(changed),
            "password_lifetime_days": text(row["password_lifetime"]),
            "password": "none" if is_role or is_yes(row["no_password"]) else "set",
            "tls": _MARIADB_TLS.get(text(row["ssl_type"]), text(row["ssl_type"])),
        },
    )


def _user_statement(server: Server) -> str:
    known = server.columns("mysql", "user")
    if not known:
        raise ServerError("denied", 0, "no column of mysql.user may be read")
    wanted = [known[name] for name in _WANTED if name in known]
    if "password_last_changed" in known:
        wanted.append("UNIX_TIMESTAMP(password_last_changed) AS changed_at")
    if "authentication_string" in known:
        wanted.append("COALESCE(authentication_string, '') = '' AS no_password")
    return f"SELECT {', '.join(wanted)} FROM mysql.user"


def _fact_of_user_row(row: dict[str, object]) -> Fact:
    row = {name.lower(): value for name, value in row.items()}
    password = "unknown"
    if "no_password" in row:
        password = "none" if is_yes(row["no_password"]) else "set"
    return Fact(
        account(row.get("user"), row.get("host")),
        {
            "user": text(row.get("user")),
            "host": text(row.get("host")),
            "plugin": text(row.get("plugin")),
            "role": _role(row, password),
            "locked": _known(row, "account_locked"),
            "password_expired": _known(row, "password_expired"),
            "password_changed_at": _time(int(float(text(row.get("changed_at")) or 0))),
            "password_lifetime_days": text(row.get("password_lifetime")),
            "password": password,
            "tls": _MYSQL_TLS.get(text(row.get("ssl_type")).lower(), text(row.get("ssl_type"))),
        },
    )


def _known(row: dict[str, object], column: str) -> str:
    return yes_or_no(row[column]) if column in row else "unknown"


def _role(row: dict[str, object], password: str) -> str:
    """MariaDB marks roles. In MySQL a role is an account that is created locked, expired and without a
    password."""
    if "is_role" in row:
        return yes_or_no(row["is_role"])
    unusable = _known(row, "account_locked") == "yes" and _known(row, "password_expired") == "yes"
    return "yes" if unusable and password != "set" else "no"


def _time(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) if seconds else ""


def read_roles(server: Server) -> list[Fact]:
    """Returns one fact for each role that is granted to an account or a role. Raises ServerError.

    Sources: `mysql.roles_mapping` (MariaDB), `mysql.role_edges` and `mysql.default_roles` (MySQL 8.0 and
    later).
    """
    if server.product.is_mariadb:
        return [_fact_of_role_mapping(row) for row in server.rows("SELECT * FROM mysql.roles_mapping")]
    if not server.product.since(8):
        return []  # MySQL 5.7 has no roles; an account with few privileges gets `denied` for a missing table
    edges = server.rows("SELECT * FROM mysql.role_edges")
    defaults = server.rows("SELECT * FROM mysql.default_roles") if edges else []
    by_default = {
        (
            account(row["USER"], row["HOST"]),
            account(row["DEFAULT_ROLE_USER"], row["DEFAULT_ROLE_HOST"]),
        )
        for row in defaults
    }
    return [_fact_of_role_edge(row, by_default) for row in edges]


def _fact_of_role_mapping(row: dict[str, object]) -> Fact:
    return _edge(account(row["User"], row["Host"]), account(row["Role"], ""), row["Admin_option"])


def _fact_of_role_edge(row: dict[str, object], by_default: set[tuple[str, str]]) -> Fact:
    grantee, role = account(row["TO_USER"], row["TO_HOST"]), account(row["FROM_USER"], row["FROM_HOST"])
    edge = _edge(grantee, role, row["WITH_ADMIN_OPTION"])
    return Fact(edge.key, {**edge.attributes, "default": "yes" if (grantee, role) in by_default else "no"})


def _edge(grantee: str, role: str, admin: object) -> Fact:
    return Fact(f"{role} to {grantee}", {"role": role, "grantee": grantee, "admin_option": yes_or_no(admin)})
