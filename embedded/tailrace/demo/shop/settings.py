"""Product, version, settings and auditing of each server, as snapshots of capture contain them."""

from collections.abc import Mapping
from dataclasses import dataclass

Attributes = Mapping[str, str]


@dataclass(frozen=True)
class Captured:
    """What capture knows of a server besides its accounts. `auditing` has the facts of the kind `audit`."""

    instance: str
    cluster: str
    product: str
    """`mariadb`, `mysql` or `percona`."""
    version: str
    settings: Attributes
    auditing: Mapping[str, Attributes]

    @property
    def has_accounts(self) -> bool:
        """Whether the user of capture may read the accounts of the server."""
        return self.product == "mariadb"


_NO_AUDIT = {"active": "no", "by": "", "not_readable": "", "switched_off_by": "", "file": ""}


def _auditing(plugin: str, version: str, file: str) -> dict[str, Attributes]:
    active = {**_NO_AUDIT, "active": "yes", "by": plugin, "file": file}
    its = {"library": f"{plugin.lower()}.so", "name": plugin, "status": "ACTIVE", "version": version}
    return {"auditing": active, f"plugin {plugin}": its}


_EACH = {
    "general_log": "OFF",
    "log_bin": "ON",
    "log_output": "FILE",
    "innodb_print_all_deadlocks": "ON",
    "slow_query_log": "ON",
    "long_query_time": "0.000000",
    "min_examined_row_limit": "0",
    "require_secure_transport": "OFF",
    "system_time_zone": "UTC",
    "time_zone": "+00:00",
}
_MARIADB = _EACH | {
    "log_warnings": "4",
    "log_slow_query": "ON",
    "log_slow_query_time": "0.000000",
    "log_slow_rate_limit": "1",
    "log_slow_verbosity": "query_plan,explain",
    "log_slow_slave_statements": "ON",
    "log_slow_min_examined_row_limit": "0",
}
_SERVER_AUDIT = {
    "server_audit_events": "CONNECT,QUERY",
    "server_audit_logging": "ON",
    "server_audit_excl_users": "",
    "server_audit_incl_users": "",
    "server_audit_query_log_limit": "65535",
}
_AUDIT_LOG = {
    "audit_log_policy": "ALL",
    "audit_log_file": "audit.log",
    "audit_log_strategy": "ASYNCHRONOUS",
    "audit_log_exclude_accounts": "",
    "audit_log_include_accounts": "",
}
_PERCONA = (
    _EACH
    | _AUDIT_LOG
    | {
        "log_error_verbosity": "3",
        "log_slow_rate_limit": "1",
        "log_slow_rate_type": "query",
        "log_slow_verbosity": "microtime,query_plan,innodb",
        "log_timestamps": "UTC",
        "slow_query_log_always_write_time": "10.000000",
    }
)
_MYSQL = (
    _EACH
    | _AUDIT_LOG
    | {
        "audit_log_format": "JSON",
        "log_error_verbosity": "2",
        "log_slow_extra": "OFF",
        "log_timestamps": "UTC",
    }
)
_MARIADB_VERSION, _PERCONA_VERSION = "10.11.19-MariaDB-0+deb12u1-log", "5.7.20-18-log"

SERVERS = (
    Captured(
        "shop-db-1",
        "shop",
        "mariadb",
        _MARIADB_VERSION,
        _MARIADB | _SERVER_AUDIT,
        _auditing("SERVER_AUDIT", "1.4", "/var/log/mysql/server_audit.log"),
    ),
    Captured("shop-db-2", "shop", "mariadb", _MARIADB_VERSION, _MARIADB, {"auditing": _NO_AUDIT}),
    Captured(
        "catalog-db-1",
        "shop",
        "percona",
        _PERCONA_VERSION,
        _PERCONA | {"audit_log_format": "NEW"},
        _auditing("audit_log", "0.2", "audit.log"),
    ),
    Captured(
        "billing-db-1", "billing", "mysql", "8.0.46", _MYSQL, _auditing("audit_log", "8.0", "audit.log")
    ),
    Captured(
        "billing-db-2",
        "billing",
        "percona",
        _PERCONA_VERSION,
        _PERCONA | {"audit_log_format": "CSV"},
        _auditing("audit_log", "0.2", "audit.log"),
    ),
)
