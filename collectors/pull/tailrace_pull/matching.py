"""Finds out which file of a listing is which known file: services rename files, and use names again."""

from collections.abc import Callable
from dataclasses import dataclass

from tailrace_pull import portions
from tailrace_pull.remote import START, BinaryDataError, FileGoneError, RemoteFile, RemoteLogs
from tailrace_pull.state import LogState, PulledFile

Numbers = Callable[[], int]
"""Returns a new number for a file, greater than all before."""


@dataclass(frozen=True)
class Listing:
    """The files of a log at one time, the live one last."""

    at: float
    """Seconds since 1970 UTC."""
    files: tuple[RemoteFile, ...]

    def has_same_files(self, later: "Listing", live: Callable[[str], bool]) -> bool:
        """Returns whether no file was renamed, removed or created between the two listings, or while the
        first one was read page by page.

        A rotation changes a rotated file or their names, even if the service uses a name again. A live file
        that became smaller is another one.
        """
        return self._rotated(live) == later._rotated(live) and self._live_size(live) <= later._live_size(live)

    def _rotated(self, live: Callable[[str], bool]) -> list[RemoteFile]:
        return [file for file in self.files if not live(file.name)]

    def _live_size(self, live: Callable[[str], bool]) -> int:
        return sum(file.size for file in self.files if live(file.name))


MISSING_SECONDS = 3600
"""How long a file is remembered that is no longer listed: a listing of several pages may skip a renamed
file."""

ENDED_SECONDS = 6 * 3600
"""A file that keeps its name gets no more lines, probably, if another one was written so much later."""


def match(state: LogState, listing: Listing, logs: RemoteLogs, new_number: Numbers) -> LogState:
    """Returns the state with the files of the listing, in its order, after those that are missing.

    A file is the known one of its name unless it has changed in a way that only a rotation causes. Then its
    first lines decide. Raises RemoteError.
    """
    known = state.copy().files
    if not logs.is_renamed:
        return _match_by_name(known, listing, new_number)
    found: list[PulledFile] = []
    was_rotated = _has_lost_files(known, listing)
    for remote in listing.files:
        is_live = logs.is_live(remote.name)
        certain = None if is_live and was_rotated else _certain(known, remote, is_live)
        was_rotated |= certain is None
        file = certain or _by_head(known, remote, logs) or PulledFile(new_number(), "")
        _take(known, file, remote, is_live)
        found.append(file)
    return LogState([*_missing(known, listing.at), *found])


def _match_by_name(known: list[PulledFile], listing: Listing, new_number: Numbers) -> LogState:
    """Returns the state of files that keep their names. One to which nothing was written for hours counts as
    ended until it grows."""
    newest = max((remote.written_at for remote in listing.files), default=0.0)
    found: list[PulledFile] = []
    for remote in listing.files:
        same = (file for file in known if file.name == remote.name and file.offset <= remote.size)
        file = next(same, None) or PulledFile(new_number(), "")
        _take(known, file, remote, remote.written_at > newest - ENDED_SECONDS)
        found.append(file)
    return LogState([*_missing(known, listing.at), *found])


def _take(known: list[PulledFile], file: PulledFile, remote: RemoteFile, is_live: bool) -> None:
    """Gives a file what the listing says about it, and removes it from the known ones."""
    if file in known:
        known.remove(file)
    file.name, file.is_live, file.missing_since = remote.name, is_live, None
    file.size, file.written_at = max(remote.size, file.offset), remote.written_at


def _has_lost_files(known: list[PulledFile], listing: Listing) -> bool:
    """Returns whether a file that was listed before is gone: then the live one may be another one, too."""
    names = {remote.name for remote in listing.files}
    return any(file.missing_since is None and file.name not in names for file in known)


def _missing(files: list[PulledFile], at: float) -> list[PulledFile]:
    for file in files:
        file.missing_since = at if file.missing_since is None else file.missing_since
    return [file for file in files if at - file.missing_since < MISSING_SECONDS]


def _certain(known: list[PulledFile], remote: RemoteFile, is_live: bool) -> PulledFile | None:
    """Returns the known file of the name if nothing indicates a rotation: a rotated file never changes, and
    the live one only grows. If a rotated one has changed, another file may have taken the name of the live
    one, also a larger one, and the service may have deleted the known one."""
    for file in known:
        if file.name == remote.name and file.is_live == is_live and file.missing_since is None:
            is_same = remote.size >= file.size if is_live else _is_unchanged(file, remote)
            return file if is_same else None
    return None


def _is_unchanged(file: PulledFile, remote: RemoteFile) -> bool:
    return remote.size == file.size and remote.written_at == file.written_at


def _by_head(known: list[PulledFile], remote: RemoteFile, logs: RemoteLogs) -> PulledFile | None:
    """Returns the known file that begins like the remote one: the one with the longest head, and of equal
    ones the latest, because a service rotates the live file. A rotated file of another size is another one,
    although both may begin with the same banner and have no other line that is short enough for a portion."""
    possible = [
        file for file in known if file.size == remote.size or (file.is_live and file.size < remote.size)
    ]
    needed = max((len(file.head) for file in possible), default=0)
    head, is_whole = _head(logs, remote.name, needed)
    same = [
        file
        for file in possible
        if file.head
        and (head.startswith(file.head) or (not is_whole and _has_lines(logs, remote.name, file.head)))
    ]
    return max(same, key=lambda file: (len(file.head), file.number), default=_without_lines(possible))


def _without_lines(possible: list[PulledFile]) -> PulledFile | None:
    """Returns the live file if no line of it was read yet: it may be any, and was probably rotated."""
    return next((file for file in possible if file.is_live and not file.offset), None)


def _head(logs: RemoteLogs, name: str, needed: int) -> tuple[bytes, bool]:
    """Reads the first bytes of a file, if any are needed; fewer if it ends before. Returns also whether the
    service left out none of them."""
    head, position = b"", START
    try:
        while len(head) < needed and position is not None:
            portion = portions.whole(logs, name, position, len(head))
            head += portion.data
            if portion.is_cut:
                return head, False
            position = None if portion.at_end else portion.position
    except FileGoneError:
        return b"", True
    return head, True


def _has_lines(logs: RemoteLogs, name: str, head: bytes) -> bool:
    """Returns whether a file begins with these lines. Behind them may be binary data, which was not there
    when they were read: a larger portion ends before, and not always at the same line."""
    try:
        return logs.read(name, START, head.count(b"\n")).data == head
    except (BinaryDataError, FileGoneError):
        return False
