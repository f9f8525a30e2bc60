"""Reads portions that end with a line: services cut them by size, also inside of a character."""

from dataclasses import replace

from tailrace_pull.remote import Portion, RemoteError, RemoteLogs

PORTION_LINES = 10_000
"""What services answer at most."""

MAX_LINE_BYTES = 16_000_000
"""The longest line that the job accepts. A longer one is skipped, and becomes a gap."""

REPLACED = "\ufffd".encode()
"""What a service answers for a character that a portion cuts."""


def whole(logs: RemoteLogs, name: str, position: str, offset: int) -> Portion:
    """Reads a portion that ends with a line, unless the file ends in a line that is still being written.

    A portion that was cut is read again with as many lines as it had in whole. `offset` is that of
    `position`, in bytes. Raises RemoteError.
    """
    portion = logs.read(name, position, PORTION_LINES)
    if _is_broken(portion):
        portion = logs.read(name, position, max(1, portion.data.count(b"\n")))
    return _long_line(logs, name, offset, portion) if _is_broken(portion) else portion


def _is_broken(portion: Portion) -> bool:
    return portion.is_cut or not (portion.at_end or portion.data.endswith(b"\n"))


def _long_line(logs: RemoteLogs, name: str, offset: int, portion: Portion) -> Portion:
    """Reads a line that is longer than a portion, piece by piece. What is too long, or was cut, is left
    out."""
    is_torn = False
    while not (portion.is_cut or portion.at_end or portion.data.endswith(b"\n")):
        if portion.position is None:
            raise RemoteError(
                f"{name}: the service does not say where a long line at byte {offset} continues"
            )
        more = logs.read(name, portion.position, 1)
        is_torn |= portion.data.endswith(REPLACED) or more.data.startswith(REPLACED)
        portion = replace(more, data=portion.data + more.data, is_long_line=True)
    if not (portion.is_cut or is_torn or len(portion.data) > MAX_LINE_BYTES):
        return portion
    return _unfinished(portion) if portion.at_end else _left_out(offset, portion)


def _unfinished(portion: Portion) -> Portion:
    """Returns the portion without its bytes and its position: the line may be still being written."""
    return replace(portion, data=b"", position=None, is_cut=False)


def _left_out(offset: int, portion: Portion) -> Portion:
    """Returns the portion without its bytes. Its end is counted if the service does not say it."""
    end = portion.end if portion.end is not None else offset + len(portion.data)
    return replace(portion, data=b"", is_cut=True, end=end)
