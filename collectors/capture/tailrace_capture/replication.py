"""Where a server stands in replication, and which transactions it has."""

from tailrace_capture.facts import Fact, text, yes_or_no
from tailrace_capture.server import Server, ServerError

# (new name, old name) of a column of SHOW REPLICA STATUS / SHOW SLAVE STATUS; what changes all the time,
# such as positions and lag, is left out, and so is the account.
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

_GTID_VARIABLES = (
    *("server_uuid", "server_id", "gtid_executed", "gtid_purged"),
    *("gtid_binlog_state", "gtid_binlog_pos", "gtid_slave_pos", "gtid_current_pos", "gtid_domain_id"),
)


def read(server: Server) -> list[Fact]:
    """The fact `role`, and one for each channel that this server replicates from. Raises ServerError."""
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
    # SHOW REPLICA STATUS since MySQL 8.0.22; SHOW SLAVE STATUS is gone in 8.4.
    return "SHOW REPLICA STATUS" if server.product.since(8, 0, 22) else "SHOW SLAVE STATUS"


def _channel(row: dict[str, object]) -> Fact:
    name = next((text(row[column]) for column in _CHANNELS if column in row), "")
    attributes = {
        ours: text(next((row[column] for column in columns if column in row), ""))
        for ours, columns in _COLUMNS.items()
    }
    return Fact(f"channel {name}".rstrip(), {"channel": name, **attributes})


def read_gtids(server: Server) -> list[Fact]:
    """One fact with the server's GTID sets, as MySQL or MariaDB write them, without line ends. Raises
    ServerError."""
    variables = server.variables()
    if server.product.is_mariadb:
        variables |= _mariadb_positions(server)
    known = {name: variables[name].replace("\n", "") for name in _GTID_VARIABLES if name in variables}
    return [Fact("gtid", {**known, "flavour": "mariadb" if server.product.is_mariadb else "mysql"})]


def _mariadb_positions(server: Server) -> dict[str, str]:
    """gtid_binlog_state is a variable that SHOW GLOBAL VARIABLES leaves out where the binary log is off."""
    try:
        (row,) = server.rows("SELECT @@GLOBAL.gtid_binlog_state AS gtid_binlog_state")
    except ServerError as error:
        if error.status in ("absent", "denied"):
            return {}
        raise
    return {name: text(value) for name, value in row.items()}
