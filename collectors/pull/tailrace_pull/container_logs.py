"""Removes the envelopes that container runtimes put around lines, and joins the lines that they split.

Sources: Kubernetes CRI (containerd, CRI-O): `TIME STREAM TAG LINE`, with the tag P for a part and F for the
last one; Docker's driver json-file: an object with `log`, `stream` and `time` for each part, whose last one
ends with a line feed. Both split lines at 16 KiB.
"""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from tailrace_pull.envelopes import Decoded, EnvelopeError, time_of

Part = tuple[str, str, bytes, bool]
"""Time, stream, bytes, and whether the line ends."""

CRI = re.compile(
    rb"(\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([PF])(?::\S*)? (.*)", re.DOTALL
)
DOCKER = re.compile(rb'\s*\{"log":')


def lines(content: bytes, name: str) -> Iterator[Decoded]:
    """Yields the lines of a container's log file; none of other files. `name` is that of the container.

    Raises EnvelopeError.
    """
    written = content.removesuffix(b"\n").split(b"\n")
    if CRI.match(written[0]):
        yield from _joined(map(_cri, written), name)
    elif DOCKER.match(written[0]):
        yield from _joined(map(_docker, written), name)


def _cri(line: bytes) -> Part:
    found = CRI.match(line)
    if found is None:
        raise EnvelopeError(f"expected TIME STREAM TAG LINE, found {line[:40]!r}")
    return found[1].decode(), found[2].decode(), found[4], found[3] == b"F"


def _docker(line: bytes) -> Part:
    try:
        record = json.loads(line)
        text = record["log"].encode()
        return record["time"], record["stream"], text.removesuffix(b"\n"), text.endswith(b"\n")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EnvelopeError(f"expected log, stream and time, found {line[:40]!r}: {error!r}") from error


def _joined(parts: Iterable[Part], name: str) -> Iterator[Decoded]:
    """A line whose last part is missing ends where the file ends. Lines keep their order if a clock steps
    back: then they have the time of the line before."""
    begun: dict[str, list[bytes]] = {}
    latest = datetime.min.replace(tzinfo=UTC)
    for time, stream, data, ends in parts:
        latest = max(latest, time_of(time))
        begun.setdefault(stream, []).append(data)
        if ends:
            yield _line(name, stream, latest, begun.pop(stream))
    for stream, left in begun.items():
        yield _line(name, stream, latest, left)


def _line(name: str, stream: str, at: datetime, parts: list[bytes]) -> Decoded:
    return Decoded(("containers", name, f"{stream}.log"), at, "", b"".join(parts) + b"\n")
