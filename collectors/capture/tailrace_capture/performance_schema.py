"""Whether Performance Schema of a server notes what capture reads, and what turns it on if not."""

from tailrace_capture.server import Server, ServerError

SETTINGS = "SELECT @@performance_schema AS is_on"
GLOBAL = "global_instrumentation"
"""The consumer without which the others note nothing."""
CONSUMERS = (
    "SELECT NAME AS name FROM performance_schema.setup_consumers"
    f" WHERE NAME IN ('{GLOBAL}', %s) AND ENABLED != 'YES' ORDER BY NAME"
)
INSTRUMENT = "SELECT ENABLED AS is_on FROM performance_schema.setup_instruments WHERE NAME = %s"


def require_on(server: Server) -> None:
    """Raises ServerError with the setting that turns Performance Schema on: it is fixed at the start."""
    (row,) = server.rows(SETTINGS)
    if not row["is_on"]:
        raise _off("performance_schema is OFF", "performance_schema=ON")


def require_consumer(server: Server, name: str) -> None:
    """Raises ServerError with the statement that enables the consumer, or the one on which it depends."""
    for row in server.rows(CONSUMERS, (name,)):
        consumer = str(row["name"])
        raise _off(
            f"the consumer {consumer} is disabled",
            f"performance-schema-consumer-{consumer.replace('_', '-')}=ON",
            f"UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = '{consumer}';",
        )


def require_instrument(server: Server, name: str, of: str) -> None:
    """Raises ServerError with the statement that enables the instrument, which notes `of`."""
    found = server.rows(INSTRUMENT, (name,))
    if not found:
        raise ServerError("absent", 0, f"this version notes no {of}")
    if found[0]["is_on"] != "YES":
        raise _off(
            f"the instrument of {of} is off",
            f"performance-schema-instrument='{name}=ON'",
            f"UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' WHERE NAME = '{name}';",
        )


def _off(problem: str, option: str, statement: str = "") -> ServerError:
    """Returns the error with the statement that has an effect now, if there is one, and the option of
    [mysqld] that has one after a restart."""
    if statement:
        message = f"{problem}: {statement} and {option} in [mysqld]"
        fix: tuple[str, ...] = (statement, "# my.cnf, to keep it", "[mysqld]", option)
    else:
        message = f"{problem}: {option} in [mysqld], then restart the server"
        fix = ("# my.cnf, then restart the server", "[mysqld]", option)
    return ServerError("absent", 0, message, problem, fix)
