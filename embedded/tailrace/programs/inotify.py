"""Checks the number of free inotify instances: Fluent Bit takes one for each log."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

INOTIFY_INSTANCES = "fs.inotify.max_user_instances"
INOTIFY = "anon_inode:inotify"


def too_few_inotify_instances(needed: int) -> list[str]:
    """Returns a finding if fewer than `needed` inotify instances of this user are free."""
    limit = int(Path("/proc/sys", *INOTIFY_INSTANCES.split(".")).read_text())
    taken = sum(_inotify_instances(process) for process in Path("/proc").glob("[0-9]*") if _is_ours(process))
    if needed <= limit - taken:
        return []
    free, enough = max(limit - taken, 0), 2 * (taken + needed)
    return [
        f"{needed} inotify instances are needed, one for each watched log, and {free} of this user's {limit} "
        f"are free; raise the limit: sudo sysctl {INOTIFY_INSTANCES}={enough}"
    ]


def _inotify_instances(process: Path) -> int:
    return sum(file == INOTIFY for file in open_files(process))


def _is_ours(process: Path) -> bool:
    with suppress(OSError):  # it has ended
        return process.stat().st_uid == os.getuid()
    return False


def open_files(process: Path) -> Iterator[str]:
    """Yields the open files of a process; none without permission, or if it ends meanwhile."""
    with suppress(OSError):
        for link in (process / "fd").iterdir():
            with suppress(OSError):  # closed since it was listed
                yield os.readlink(link)
