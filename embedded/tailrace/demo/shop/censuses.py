"""The census of the two days: the size that each log had in each minute, in the format of
collectors/census/census.py. Without it, all minutes before the demo would be unknown."""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from tailrace.demo.shop.log import Log
from tailrace.demo.shop.times import HOUR, MINUTE, StoryTimes

SECOND = 50
"""The second of each minute at which the sizes are recorded."""
HEAD_BYTES = 4096


def times_of(times: StoryTimes) -> range:
    """Returns the times of the census. The first one is before the midnight with which the two days begin,
    which shows that all of them was watched."""
    return range(times.start - MINUTE + SECOND, times.now, MINUTE)


def lines(log: Log, path: Path, times: StoryTimes) -> Iterator[str]:
    """Yields the lines of the spool of one log. The file at `path` exists."""
    inode = path.stat().st_ino
    written = [entry.at for entry in log.entries]
    ends = list(accumulate((len(entry.content) for entry in log.entries), initial=len(log.banner)))
    heads = _heads(log.content)
    for at in times_of(times):
        entries = bisect_left(written, at)
        size = ends[entries]
        length = next(head for head in reversed(heads) if head <= size)
        record = {
            "at": at,
            "cluster": log.cluster,
            "instance": log.instance,
            "source": log.source,
            "path": str(path),
            "inode": inode,
            "size": size,
            "head_length": length,
            "head_hash": heads[length],
            "mtime": written[entries - 1] if entries else times.start - HOUR,
        }
        yield json.dumps(record, separators=(",", ":"))


def _heads(content: bytes) -> dict[int, str]:
    """Returns the hash of each head of complete lines, by its length."""
    ends = [0, *(i + 1 for i, byte in enumerate(content[:HEAD_BYTES]) if byte == ord("\n"))]
    return {end: hashlib.md5(content[:end], usedforsecurity=False).hexdigest() for end in ends}
