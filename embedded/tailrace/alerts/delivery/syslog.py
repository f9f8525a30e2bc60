"""Sends one alert as a message of RFC 5424 over TCP or TLS, with its length before it (RFC 6587 and 5425).

Syslog has no acknowledgement. An attempt is successful when the receiver has read the message and closed its
side of the connection without an error.
"""

import contextlib
import socket
import ssl
from collections.abc import Iterator

from tailrace.alerts.delivery import ecs, formats
from tailrace.alerts.delivery.config import Syslog
from tailrace.alerts.delivery.delivery_log import DELIVERED, FAILED, Due, Outcome
from tailrace.alerts.triage import LEVELS
from tailrace.clickhouse.client import Row

FACILITY = 10
"""Security and authorization messages."""
SEVERITY = dict(zip(LEVELS, (6, 5, 4, 3, 2), strict=True))
"""6 informational, 5 notice, 4 warning, 3 error, 2 critical."""
APPLICATION, MESSAGE_ID, NONE = "tailrace", "alert", "-"
MAX_HOSTNAME = 255


class SyslogSender:
    """Makes one attempt at a time."""

    def __init__(self, syslog: Syslog, dashboards: str) -> None:
        self._syslog = syslog
        self._dashboards = dashboards

    def send(self, due: Due) -> Outcome:
        """Sends the alert; raises nothing."""
        text = self.preview(due).encode()
        try:
            with self._connected() as connection:
                connection.sendall(b"%d %s" % (len(text), text))
                _finish(connection)
        except OSError as error:
            return Outcome(FAILED, str(error) or type(error).__name__)
        return Outcome(DELIVERED, f"{len(text)} bytes to {self._syslog.host}")

    def preview(self, due: Due) -> str:
        """Returns the message without its length."""
        return message(due.alert, formats.LINES[self._syslog.format](due.alert, self._dashboards))

    @contextlib.contextmanager
    def _connected(self) -> Iterator[socket.socket]:
        to = self._syslog
        with socket.create_connection((to.host, to.port), timeout=to.timeout) as plain:
            if to.security == "none":
                yield plain
                return
            trusted = ssl.create_default_context(cafile=to.ca_file)
            with trusted.wrap_socket(plain, server_hostname=to.host) as encrypted:
                yield encrypted


def message(alert: Row, text: str) -> str:
    """Returns the syslog message of an alert with this text, without structured data."""
    priority = 8 * FACILITY + SEVERITY.get(str(alert["level"]), SEVERITY["informational"])
    return (
        f"<{priority}>1 {ecs.time_of(alert['event_time'])} {_hostname(alert)} {APPLICATION} "
        f"{NONE} {MESSAGE_ID} {NONE} {text}"
    )


def _hostname(alert: Row) -> str:
    """Returns the instance with the characters that RFC 5424 allows: printable ASCII without blanks."""
    return "".join(sign if "!" <= sign <= "~" else "_" for sign in alert["instance"])[:MAX_HOSTNAME] or NONE


def _finish(connection: socket.socket) -> None:
    """Ends the sending side, and reads until the receiver ends its side. Raises OSError if it does not."""
    if isinstance(connection, ssl.SSLSocket):
        with contextlib.suppress(ssl.SSLEOFError):  # the receiver closed without TLS's own end
            connection.unwrap()
        return
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(1024):
        pass
