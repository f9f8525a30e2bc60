"""Reads portions that end with a line: services cut them by size, also inside of a character."""

from dataclasses import replace

from tailrace_pull.remote import BinaryDataError, Portion, RemoteError, RemoteLogs

PORTION_LINES = 10_000
"""What services answer at most."""

MAX_LINE_BYTES = 16_000_000
"""The longest line that the job accepts. A longer one is skipped, and becomes a gap."""

FIRST_STEP_BYTES = 64
"""How far the first attempt to read behind binary data goes; further ones double it."""

REPLACED = "\ufffd".encode()
"""What a service answers for a character that a portion cuts."""


def whole(logs: RemoteLogs, name: str, position: str, offset: int) -> Portion:
    """Reads a portion that ends with a line, unless the file ends in a line that is still being written.

    A portion that was cut is read again with as many lines as it had in whole. `offset` is that of
    `position`, in bytes. Raises RemoteError.
    """
    try:
        portion = logs.read(name, position, PORTION_LINES)
        if _is_broken(portion):
            portion = logs.read(name, position, max(1, portion.data.count(b"\n")))
        return _long_line(logs, name, offset, portion) if _is_broken(portion) else portion
    except BinaryDataError as error:
        return _around_binary(logs, name, position, offset, error)


def _around_binary(
    logs: RemoteLogs, name: str, position: str, offset: int, error: BinaryDataError
) -> Portion:
    """Reads the lines before the first one with binary data, which are fewer than a portion, and leaves out
    that line. So it asks a dozen times for each such line."""
    read = Portion(b"", position, False)
    lines = PORTION_LINES // 2
    while lines and read.position is not None:
        try:
            more = logs.read(name, read.position, lines)
        except BinaryDataError:
            lines //= 2
            continue
        if not _is_broken(more):
            read = replace(more, data=read.data + more.data)
            if more.at_end or more.data.count(b"\n") < lines:
                return read  # the service answered fewer lines: the binary data is in none of them
        lines //= 2
    if read.position is None:
        return read
    try:
        return _behind_binary(logs, name, read.position, offset + len(read.data), read.data, error)
    except BinaryDataError:
        if read.data:
            return read
        raise


def _behind_binary(
    logs: RemoteLogs, name: str, position: str, offset: int, before: bytes, error: BinaryDataError
) -> Portion:
    """Returns the bytes before, as a portion that ends behind a line with binary data: at the first line that
    begins at least a step further. Raises BinaryDataError if there is none, such as while the line is
    written."""
    step = FIRST_STEP_BYTES
    while step < MAX_LINE_BYTES and (further := logs.further(position, step)) is not None:
        try:
            portion = logs.read(name, further, 1)
        except BinaryDataError:
            step *= 2
            continue
        if portion.data.startswith(REPLACED):  # within a character
            step += 1
        elif portion.data.endswith(b"\n") and portion.end is not None:
            return replace(portion, data=before, is_cut=True)
        elif portion.at_end:
            break
        else:
            step *= 2
    raise BinaryDataError(f"{name}: nothing can be read behind byte {offset}: {error}") from error


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
