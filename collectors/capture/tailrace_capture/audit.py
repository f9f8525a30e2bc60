"""Reads the state of auditing: plugins, components, filters, and exclusions."""

from tailrace_capture.account_names import account
from tailrace_capture.facts import Fact, rows_or_none, text
from tailrace_capture.server import Server, ServerError

MANY_BYTES = 8192

# Plugins that write an audit log, by lower-case name: MariaDB's (also on Amazon RDS for MySQL), Oracle's and
# Percona's, McAfee's.
WRITERS = ("server_audit", "audit_log", "audit_log_filter", "audit")
# Libraries, without their ending, of plugins of the type AUDIT that write no audit log (MariaDB, MySQL).
NO_WRITERS = (
    "sql_errlog", "query_response_time", "audit_null", "adt_null", "connection_control", "rewriter",
    "firewall", "version_token", "mysqlx",
)  # fmt: skip
# Variable → value with which the plugin is loaded and writes nothing.
_SWITCHES = {"server_audit_logging": "off", "audit_log_policy": "none", "audit_log_disable": "on"}


def read(server: Server) -> list[Fact]:
    """Returns the fact `auditing`, and one for each plugin, component and filter. Raises ServerError."""
    found, denied = _plugins(server), []
    for reader in (_components, _filters, _filter_users):
        try:
            # Without a plugin there are no filters. Their tables do not exist, but for an account with few
            # privileges the server reports them as denied.
            found.extend(reader(server) if reader is _components or _writers(found) else [])
        except ServerError as error:
            if error.status != "denied":
                raise
            denied.append(reader.__name__.strip("_"))
    return [_auditing(server, found, denied), *found]


def _writers(facts: list[Fact]) -> list[str]:
    """Returns the names of active plugins and components that write an audit log."""
    return [name for name in _active(facts) if name.lower() in WRITERS]


def _others(facts: list[Fact]) -> list[str]:
    """Returns the names of active plugins of the type AUDIT that nothing is known about.

    Plugins that are built into a server have no library and write no audit log.
    """
    plugins = [fact for fact in facts if fact.key.startswith("plugin ") and fact.attributes.get("library")]
    unknown = [fact for fact in plugins if fact.attributes["library"].split(".")[0] not in NO_WRITERS]
    return [name for name in _active(unknown) if name.lower() not in WRITERS]


def _active(facts: list[Fact]) -> list[str]:
    return [fact.attributes["name"] for fact in facts if fact.attributes.get("status") == "ACTIVE"]


def _active_state(writers: list[str], switched_off: list[str], in_doubt: list[str]) -> str:
    """Returns yes, no or unknown; `in_doubt` are plugins of unknown purpose and what was not readable."""
    if writers:
        return "no" if switched_off else "yes"
    return "unknown" if in_doubt else "no"


def _auditing(server: Server, found: list[Fact], denied: list[str]) -> Fact:
    writers, others = _writers(found), _others(found)
    variables = server.variables()
    switched_off = [
        name for name, off in _SWITCHES.items() if variables.get(name, "").lower() == off and writers
    ]
    return Fact(
        "auditing",
        {
            "active": _active_state(writers, switched_off, [*denied, *others]),
            "by": ", ".join(writers),
            "switched_off_by": ", ".join(switched_off),
            "file": variables.get("server_audit_file_path") or variables.get("audit_log_file", ""),
            "not_readable": ", ".join(denied),
            # Only if there are any: another attribute would be a change of auditing on every server.
            **({"other_plugins": ", ".join(others)} if others else {}),
        },
    )


def _plugins(server: Server) -> list[Fact]:
    rows = server.rows(
        "SELECT PLUGIN_NAME AS name, PLUGIN_VERSION AS version, PLUGIN_STATUS AS status, "
        "PLUGIN_LIBRARY AS library FROM information_schema.PLUGINS WHERE PLUGIN_TYPE = 'AUDIT'"
    )
    return [Fact(f"plugin {row['name']}", {name: text(value) for name, value in row.items()}) for row in rows]


def _components(server: Server) -> list[Fact]:
    """Returns audit components: Percona Server 8.4's audit filter is file://component_audit_log_filter."""
    if server.product.is_mariadb or not server.product.since(8):
        return []
    rows = rows_or_none(
        server, "SELECT component_urn AS urn FROM mysql.component WHERE component_urn LIKE '%audit%'"
    )
    names = [text(row["urn"]).removeprefix("file://component_") for row in rows]
    return [Fact(f"component {name}", {"name": name, "status": "ACTIVE"}) for name in names]


def _filters(server: Server) -> list[Fact]:
    """Returns the filters of MySQL Enterprise Audit and Percona's audit_log_filter: documents with rules and
    without data."""
    if server.product.is_mariadb:
        return []
    rows = rows_or_none(server, "SELECT NAME AS name, FILTER AS filter FROM mysql.audit_log_filter")
    return [
        Fact(f"filter {row['name']}", {"name": text(row["name"]), "filter": text(row["filter"])[:MANY_BYTES]})
        for row in rows
    ]


def _filter_users(server: Server) -> list[Fact]:
    if server.product.is_mariadb:
        return []
    rows = rows_or_none(
        server, "SELECT USER AS user, HOST AS host, FILTERNAME AS name FROM mysql.audit_log_user"
    )
    return [
        Fact(f"filter of {account(row['user'], row['host'])}", {"name": text(row["name"])}) for row in rows
    ]
