"""Tells systemd that the program makes progress, so that it restarts one that does not (sd_notify(3))."""

import os
import socket


def notify() -> None:
    """Resets the watchdog of the service; does nothing outside of systemd. Raises OSError."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
            # An address that begins with @ is in the abstract namespace.
            connection.sendto(b"WATCHDOG=1", address.replace("@", "\0", 1))
