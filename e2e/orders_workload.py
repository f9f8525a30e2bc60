"""An application with orders, whose load tests of plans run while they drop an index."""

import threading

import pymysql

from e2e import mysql
from e2e.attack_day import mariadb
from e2e.stack import wait_until

CUSTOMERS = 500
ORDERS_OF_CUSTOMER = "SELECT id, note FROM orders WHERE customer = {}"

Server = mariadb.Server | mysql.Server


def connection(server: Server, database: str = "shop") -> pymysql.Connection:
    """Runs a statement as root over the server's socket."""
    return pymysql.connect(unix_socket=str(server.socket), user="root", database=database, autocommit=True)


class Workload:
    """An application that queries the orders of one customer after another until it is stopped.

    `statement` has a placeholder for the customer; `pause` is the time in seconds after each execution. Every
    tenth execution is followed by the statement `besides`, which has a placeholder for its number.
    """

    def __init__(
        self, server: Server, statement: str = ORDERS_OF_CUSTOMER, pause: float = 0.0, besides: str = ""
    ) -> None:
        self._server = server
        self._statement = statement
        self._pause = pause
        self._besides = besides
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.executions = 0
        self.errors: list[Exception] = []

    def __enter__(self) -> "Workload":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        assert not self.errors

    def _run(self) -> None:
        try:
            with connection(self._server) as session, session.cursor() as cursor:
                while not self._end.wait(self._pause):
                    cursor.execute(self._statement.format(self.executions % CUSTOMERS))
                    if self._besides and self.executions % 10 == 0:
                        cursor.execute(self._besides.format(self.executions))
                    self.executions += 1
        except pymysql.Error as error:
            self.errors.append(error)

    def more(self, executions: int) -> None:
        """Waits for this many more executions."""
        goal = self.executions + executions
        wait_until(lambda: self.errors or self.executions >= goal, "the workload")
