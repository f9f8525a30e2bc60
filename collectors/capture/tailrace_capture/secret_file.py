"""Finds out whether other users of this machine can read a file with a password."""

import stat
from pathlib import Path

OTHERS = stat.S_IROTH | stat.S_IWOTH


def warning(file: Path) -> tuple[str, str] | None:
    """Returns a problem and its fix if every user of the machine can read or write the file; None otherwise,
    and if its mode is unknown."""
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
    except OSError:
        return None
    if not mode & OTHERS:
        return None
    problem = f"{file} has a password, and every user of this machine can read it (mode {mode:o})"
    return problem, f"chmod 600 {file}"
