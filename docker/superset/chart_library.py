"""Installs the chart library of the work pages into this Python environment, from npm's registry.

The version and the checksum are those of embedded/superset/package-lock.json, next to this file. The image
has no npm. tailrace_local/components/superset.py does the same on one machine, with npm.
"""

import base64
import hashlib
import io
import json
import sys
import tarfile
import urllib.request
from pathlib import Path

FILES = ("dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE")
TARGET = Path(sys.prefix) / "share" / "tailrace" / "uplot"
TIMEOUT_SECONDS = 60


def unpack(archive: bytes, integrity: str, target: Path) -> None:
    """Writes FILES of a package to a directory. Raises ValueError if the archive has another checksum."""
    found = f"sha512-{base64.b64encode(hashlib.sha512(archive).digest()).decode()}"
    if found != integrity:
        raise ValueError(f"the chart library has the checksum {found}, expected {integrity}")
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as package:
        for name in FILES:
            (target / Path(name).name).write_bytes(package.extractfile(f"package/{name}").read())


def main() -> None:
    lock = json.loads((Path(__file__).parent / "package-lock.json").read_text())
    pinned = lock["packages"]["node_modules/uplot"]
    address = f"https://registry.npmjs.org/uplot/-/uplot-{pinned['version']}.tgz"
    with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as answer:
        unpack(answer.read(), pinned["integrity"], TARGET)


if __name__ == "__main__":
    main()
