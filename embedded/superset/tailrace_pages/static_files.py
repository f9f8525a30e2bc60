"""Style sheet, scripts and chart library. Their addresses contain a hash of the content, so browsers keep
them for a year: a changed file has another address.

The chart library, uPlot, is installed with Superset into its Python environment (npm, version and checksum in
embedded/superset/package-lock.json) and is not part of this repository.
"""

import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

OURS = Path(__file__).parent / "static"
CHART_LIBRARY = Path(sys.prefix) / "share" / "tailrace" / "uplot"
DIGITS = 12
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@cache
def read(name: str) -> bytes:
    """Returns the content of a file. Raises FileNotFoundError, also for a name that is not of a file here."""
    for directory in (OURS, CHART_LIBRARY):
        if name in {path.name for path in directory.glob("*") if path.suffix in TYPES}:
            return (directory / name).read_bytes()
    raise FileNotFoundError(name)


@cache
def digest(name: str) -> str:
    """Returns the part of the address that changes with the content."""
    return sha256(read(name)).hexdigest()[:DIGITS]


def media_type(name: str) -> str:
    return TYPES[Path(name).suffix]
