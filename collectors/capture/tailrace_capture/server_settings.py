"""Reads settings about logging, access and storage: global variables, selected by name."""

import fnmatch

from tailrace_capture.facts import Fact
from tailrace_capture.server import Server

# Names and patterns of all products and versions; none of them contains a secret.
CHOSEN = (
    *("long_query_time", "slow_query_log", "slow_query_log_*", "log_slow_*", "min_examined_row_limit"),
    *("log_queries_not_using_indexes", "log_throttle_queries_not_using_indexes", "log_output", "log_raw"),
    *("general_log", "general_log_file", "log_error", "log_error_*", "log_timestamps", "log_warnings"),
    *("server_audit_*", "audit_log", "audit_log_policy", "audit_log_format", "audit_log_file"),
    *("audit_log_strategy", "audit_log_handler", "audit_log_rotate_on_size", "audit_log_*_accounts"),
    *("audit_log_*_databases", "audit_log_*_commands", "audit_log_filter.*", "audit_log_disable"),
    *("time_zone", "system_time_zone", "sql_mode", "character_set_server", "collation_server"),
    *("binlog_format", "binlog_row_image", "log_bin", "sync_binlog", "binlog_expire_logs_seconds"),
    *("expire_logs_days", "gtid_mode", "enforce_gtid_consistency", "gtid_strict_mode", "gtid_domain_id"),
    *("read_only", "super_read_only", "innodb_read_only", "transaction_isolation", "tx_isolation"),
    *("default_password_lifetime", "disconnect_on_expired_password", "default_authentication_plugin"),
    *("authentication_policy", "password_history", "password_reuse_interval", "validate_password*"),
    *("simple_password_check_*", "strict_password_validation", "max_password_errors"),
    *("require_secure_transport", "have_ssl", "tls_version", "local_infile", "secure_file_priv"),
    *("skip_name_resolve", "skip_networking", "bind_address", "old_passwords", "secure_auth"),
    *("performance_schema", "userstat", "max_connections"),
    *("innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "innodb_status_output*"),
    *("innodb_print_all_deadlocks", "max_execution_time", "max_statement_time", "log_bin_trust_*"),
)

MANY_BYTES = 4096
"""Longer values are truncated: sql_mode is the longest common one."""


def read(server: Server) -> list[Fact]:
    """Returns one fact for each selected variable of the server. Raises ServerError."""
    variables = server.variables()
    return [Fact(name, {"value": variables[name][:MANY_BYTES]}) for name in chosen(variables)]


def chosen(variables: dict[str, str]) -> list[str]:
    """Returns the selected names among the variables, sorted."""
    return sorted(name for name in variables if any(fnmatch.fnmatchcase(name, each) for each in CHOSEN))
