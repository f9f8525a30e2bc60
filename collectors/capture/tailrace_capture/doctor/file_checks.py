"""The checks of the files of logs: whether they can be read, their rotation, and their free disk space."""

import os
import re
from collections.abc import Iterator

from tailrace_capture.doctor.examination import Examination, Log
from tailrace_capture.doctor.finding import ERROR, INFO, OK, WARNING, Finding

MIN_FREE = 1_000_000_000
"""A file system with fewer free bytes counts as nearly full."""
MIN_FREE_SHARE = 0.05
COPYTRUNCATE = (
    "logrotate copies it and then truncates it (copytruncate): lines that are written in between are lost "
    "with every collector, and bytes change at offsets that were already read"
)


def files(seen: Examination) -> Iterator[Finding]:
    """Checks that each log is readable here, its rotation, and its free disk space."""
    if not seen.is_local:
        return
    crowded: set[int] = set()
    for log in seen.logs():
        if log.is_on and log.path:
            yield from _file(seen, log)
            yield from _rotation(seen, log)
            state = seen.host.file(log.path)
            if state.total not in crowded and state.free < max(MIN_FREE, MIN_FREE_SHARE * state.total):
                crowded.add(state.total)
                text = f"{state.free / 1e9:.1f} GB of {state.total / 1e9:.0f} GB are free for {log.path}"
                yield Finding(
                    WARNING, "disk", text, (f"df -h {log.path}", f"du -sh {os.path.dirname(log.path)}")
                )


def _file(seen: Examination, log: Log) -> Iterator[Finding]:
    state = seen.host.file(log.path)
    if not state.exists:
        text = f"{log.path} does not exist, or its directory is not readable for this user"
        yield Finding(WARNING, log.source, text, _membership(seen, log))
    elif not state.readable:
        yield Finding(ERROR, log.source, f"{log.path} cannot be read by this user", _membership(seen, log))
    else:
        yield Finding(OK, log.source, f"{log.path} can be read")


def _membership(seen: Examination, log: Log) -> tuple[str, ...]:
    """Group membership takes effect at login."""
    return (
        "# shell, as root; the collector's user (here the current one) then logs in again",
        *seen.host.commands_for_access(log.path),
    )


def _rotation(seen: Examination, log: Log) -> Iterator[Finding]:
    stanza = seen.host.rotation_of(log.path)
    if stanza is None:
        if log.source != "audit":  # the audit plugins rotate their logs themselves
            yield Finding(
                INFO, "rotation", f"logrotate does not rotate {log.path}: it grows", _stanza(seen, log)
            )
        return
    where = f"{log.path} ({stanza.file})"
    if "copytruncate" in stanza.directives:
        yield Finding(ERROR, "rotation", f"{where}: {COPYTRUNCATE}", _stanza(seen, log))
        return
    if "compress" in stanza.directives and "delaycompress" not in stanza.directives:
        text = f"{where}: compressed immediately, so that unread bytes are lost"
        yield Finding(WARNING, "rotation", text, (f"# {stanza.file}", "delaycompress"))
    if "flush" not in stanza.scripts.lower():
        text = f"{where}: the server is not notified, and continues to write to the renamed file"
        yield Finding(WARNING, "rotation", text, _stanza(seen, log))
    elif not seen.product.is_mariadb and _MARIADB_FLUSH.search(stanza.scripts):
        text = f"{where}: only MariaDB's mysqladmin supports this flush: the server is not notified"
        yield Finding(ERROR, "rotation", text, _stanza(seen, log))
    else:
        yield Finding(OK, "rotation", f"{where}: by rename, and the server is notified")


_MARIADB_FLUSH = re.compile(r"\bflush-(slow|error|general|binary|engine|relay)-log")
_FLUSH = {"slowlog": "slow", "errorlog": "error", "general": "general"}


def _stanza(seen: Examination, log: Log) -> tuple[str, ...]:
    """Returns a stanza that renames the log and then makes the server open it again.

    MariaDB's program has the command flush-slow-log and similar ones; MySQL's has flush-logs with a kind of
    log. From MariaDB 11 on, the old name of its program is in a separate package.
    """
    program = "mariadb-admin" if seen.product.is_mariadb and seen.product.since(10, 5) else "mysqladmin"
    socket = f" --socket={seen.variable('socket')}" if seen.variable("socket") else ""
    flush = "flush-logs"
    if log.source in _FLUSH:
        kind = _FLUSH[log.source]
        flush = f"flush-{kind}-log" if seen.product.is_mariadb else f"flush-logs {kind}"
    return (
        "# /etc/logrotate.d/",
        f"{log.path} {{",
        "    daily",
        "    rotate 7",
        "    missingok",
        "    nocopytruncate",
        "    compress",
        "    delaycompress",
        "    postrotate",
        f"        {program}{socket} {flush}",
        "    endscript",
        "}",
    )
