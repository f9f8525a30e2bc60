"""Reads the replication channels of a server, and its transactions."""

import time
from collections.abc import Collection

from tailrace_capture.facts import Fact, text, yes_or_no
from tailrace_capture.server import Server, ServerError

# (new name, old name) of a column of SHOW REPLICA STATUS / SHOW SLAVE STATUS. Columns that change constantly,
# such as positions and lag, are omitted, and so is the account.
_COLUMNS = {
    "source_host": ("Source_Host", "Master_Host"),
    "source_port": ("Source_Port", "Master_Port"),
    "source_uuid": ("Source_UUID", "Master_UUID"),
    "source_server_id": ("Source_Server_Id", "Master_Server_Id"),
    "io_running": ("Replica_IO_Running", "Slave_IO_Running"),
    "sql_running": ("Replica_SQL_Running", "Slave_SQL_Running"),
    "auto_position": ("Auto_Position", "Using_Gtid"),
    "last_io_errno": ("Last_IO_Errno", "Last_IO_Errno"),
    "last_sql_errno": ("Last_SQL_Errno", "Last_SQL_Errno"),
    "delay_seconds": ("SQL_Delay", "SQL_Delay"),
}
_CHANNELS = ("Channel_Name", "Connection_name")

# Variables of a server's transactions, in the order of reading: in MariaDB, applied ones never exceed logged
# ones.
_POSITIONS = (
    *("gtid_executed", "gtid_purged"),
    *("gtid_slave_pos", "gtid_current_pos", "gtid_binlog_pos", "gtid_binlog_state"),
)
# The identifiers under which it writes, and the group that shares them.
_NAMES = (
    *("server_uuid", "server_id", "gtid_domain_id", "log_slave_updates", "log_replica_updates"),
    *("group_replication_group_name", "group_replication_view_change_uuid"),
    *("wsrep_on", "wsrep_gtid_domain_id", "wsrep_gtid_mode"),
)


def read(server: Server) -> list[Fact]:
    """Returns the fact `role`, and one for each channel of this replica. Raises ServerError."""
    channels = [_channel(row) for row in server.rows(_statement(server))]
    variables = server.variables()
    role = {
        "role": "replica"
        if channels
        else "source"
        if yes_or_no(variables.get("log_bin")) == "yes"
        else "single",
        "read_only": variables.get("read_only", ""),
        "super_read_only": variables.get("super_read_only", ""),
    }
    return [Fact("role", role), *channels]


def _statement(server: Server) -> str:
    if server.product.is_mariadb:
        return "SHOW ALL SLAVES STATUS"
    # SHOW REPLICA STATUS exists since MySQL 8.0.22; SHOW SLAVE STATUS was removed in 8.4.
    return "SHOW REPLICA STATUS" if server.product.since(8, 0, 22) else "SHOW SLAVE STATUS"


def _channel(row: dict[str, object]) -> Fact:
    name = next((text(row[column]) for column in _CHANNELS if column in row), "")
    attributes = {
        ours: text(next((row[column] for column in columns if column in row), ""))
        for ours, columns in _COLUMNS.items()
    }
    return Fact(f"channel {name}".rstrip(), {"channel": name, **attributes})


def read_gtids(server: Server) -> list[Fact]:
    """Returns one fact with the server's GTID sets in MySQL's or MariaDB's notation, without line ends, and
    the times before and after the reading, in seconds since 1970 UTC. Raises ServerError."""
    variables = server.variables()
    names = {name: variables[name] for name in _NAMES if name in variables}
    began = time.time()
    positions = _positions(server, variables)
    ended = time.time()
    return [
        Fact(
            "gtid",
            {
                **names,
                **{name: value.replace("\n", "") for name, value in positions.items()},
                "flavour": "mariadb" if server.product.is_mariadb else "mysql",
                "read_from": f"{began:.3f}",
                "read_until": f"{ended:.3f}",
            },
        )
    ]


def _positions(server: Server, variables: Collection[str]) -> dict[str, str]:
    """Reads the variables one by one, without a cache: SHOW GLOBAL VARIABLES truncates them after 1,024
    characters (MySQL), and omits gtid_binlog_state if the binary log is off (MariaDB)."""
    known = [name for name in _POSITIONS if name in variables]
    if server.product.is_mariadb and "gtid_binlog_state" not in known:
        known.append("gtid_binlog_state")
    found: dict[str, str] = {}
    for name in known:
        try:
            (row,) = server.rows(f"SELECT @@GLOBAL.{name} AS value")
        except ServerError as error:
            if error.status not in ("absent", "denied"):
                raise
        else:
            found[name] = text(row["value"])
    return found
