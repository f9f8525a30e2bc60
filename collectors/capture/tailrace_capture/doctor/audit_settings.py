"""The settings that add an audit log to a server, and the file that it then writes. Standard library only.

The files have names without a directory, as by default: they are in the directory of the data, to which every
server can write. If another directory is missing, MariaDB switches the log off, and MySQL refuses the name.
"""

from dataclasses import dataclass

from tailrace_capture.product import MARIADB, PERCONA, Product

DATA = "/var/lib/mysql"
"""The directory of the data in packages of MySQL, Percona Server and MariaDB."""


@dataclass(frozen=True)
class AuditLog:
    """Lines that add a log with the activity of users, its kind in sources.yaml, and its file."""

    lines: tuple[str, ...]
    source: str
    path: str


def audit_log(product: Product, data: str = DATA) -> AuditLog:
    """Returns the audit log of a product. `data` is the directory of its data."""
    if product.name == MARIADB:
        return _server_audit(data)
    if product.name != PERCONA:
        return _general_log(product, data)
    if product.since(8, 4):
        return _filter_component(data)
    return _percona_plugin(data)


def of_each_product() -> tuple[str, ...]:
    """Returns the lines for a server whose product is unknown."""
    products = {
        "MariaDB": Product(MARIADB, (10, 11, 0), ""),
        "Percona Server 8.4 and later": Product(PERCONA, (8, 4, 0), ""),
        "Percona Server 5.7 and 8.0": Product(PERCONA, (8, 0, 0), ""),
        "MySQL": Product("mysql", (8, 0, 0), ""),
    }
    lines: list[str] = []
    for title, product in products.items():
        log = audit_log(product)
        lines += [f"# {title}: `source: {log.source}`, `path: {log.path}`", *log.lines, ""]
    return tuple(lines[:-1])


def _server_audit(data: str) -> AuditLog:
    options = {"server_audit_events": "CONNECT,QUERY,TABLE", "server_audit_query_log_limit": "65535"}
    lines = (
        "INSTALL SONAME 'server_audit';",
        *(f"SET GLOBAL {name} = {_literal(value)};" for name, value in options.items()),
        "SET GLOBAL server_audit_logging = ON;",
        "# my.cnf, to keep it",
        "[mariadbd]",
        "plugin_load_add = server_audit",
        *(f"{name} = {value}" for name, value in options.items()),
        "server_audit_logging = ON",
    )
    return AuditLog(lines, "audit", _path(data, "server_audit.log"))


def _filter_component(data: str) -> AuditLog:
    lines = (
        "# shell: creates its tables, then installs component_audit_log_filter",
        "mysql -D mysql < /usr/share/percona-server/audit_log_filter_linux_install.sql",
        "SELECT audit_log_filter_set_filter('all', '{\"filter\": {\"log\": true}}');",
        "SELECT audit_log_filter_set_user('%', 'all');",
    )
    return AuditLog(lines, "audit", _path(data, "audit_filter.log"))


def _percona_plugin(data: str) -> AuditLog:
    lines = (
        "INSTALL PLUGIN audit_log SONAME 'audit_log.so';",
        "# my.cnf: the format is only read at start",
        "[mysqld]",
        "audit_log_format = JSON",
        "audit_log_policy = ALL",
    )
    return AuditLog(lines, "audit", _path(data, "audit.log"))


def _general_log(product: Product, data: str) -> AuditLog:
    file = "general.log"
    options = {"log_output": "FILE", "general_log_file": file, "general_log": "ON"}
    persists = product.since(8)
    how = "SET PERSIST" if persists else "SET GLOBAL"
    kept = (
        "# my.cnf, to keep it",
        "[mysqld]",
        *(f"{name} = {value}" for name, value in options.items()),
    )
    lines = (
        "# MySQL Community has no audit log. These have one, and Tailrace reads it:",
        "# - Percona Server: component audit_log_filter since 8.4, plugin audit_log before",
        "# - MySQL Enterprise Edition: MySQL Enterprise Audit, with audit_log_format = JSON",
        "# Otherwise use the general log. It contains every login and statement, but not whether a",
        "# statement failed, and is expensive:",
        *(f"{how} {name} = {_literal(value)};" for name, value in options.items()),
        *(() if persists else kept),
    )
    return AuditLog(lines, "general", _path(data, file))


def _path(data: str, file: str) -> str:
    return f"{data.rstrip('/')}/{file}"


def _literal(value: str) -> str:
    return value if value.isdigit() or value == "ON" else f"'{value}'"
