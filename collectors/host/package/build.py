"""Builds the packages of a database server: `python -m collectors.host.package.build DIRECTORY [VERSION]`.

packages.yaml describes them, and nfpm writes each as deb and rpm. With equal sources and SOURCE_DATE_EPOCH a
package is equal, byte by byte.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from tailrace.config.resources import REPOSITORY
from tailrace_local import go_program

HERE = Path(__file__).resolve().parent
NFPM = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.48.0"
FORMATS = ("deb", "rpm")
SCRIPTS = ("postinstall", "preremove", "postremove")
UNITS = "/usr/lib/systemd/system"
SETTINGS = "/etc/tailrace"
NOT_PACKAGED = ("tests", "bench", "__pycache__")

Package = Mapping[str, Any]


def packages() -> dict[str, Package]:
    """Returns the descriptions of packages.yaml by name."""
    return yaml.safe_load((HERE / "packages.yaml").read_text())


def nfpm() -> Path:
    """Returns the program. The first call builds it, in 1.5 CPU-minutes. Raises as go_program.installed."""
    return go_program.installed("nfpm", NFPM)


def contents(name: str, package: Package) -> list[dict[str, Any]]:
    """Returns the files of a package in nfpm's notation, sorted by their paths."""
    made = [
        *(_file(target, source) for source, target in _files(package)),
        *(_file(f"{UNITS}/{unit}", REPOSITORY / "collectors/systemd" / unit) for unit in package["units"]),
        *(_settings(each) for each in package["settings"]),
        _file(f"/usr/share/doc/{name}/copyright", REPOSITORY / "LICENSE"),
        *(
            {"src": target, "dst": f"/usr/bin/{command}", "type": "symlink"}
            for command, target in package.get("commands", {}).items()
        ),
    ]
    return sorted(made, key=lambda each: each["dst"])


def _files(package: Package) -> Iterator[tuple[Path, str]]:
    """Yields the files of the repository with their paths in the package."""
    for target, name in package["files"].items():
        source = REPOSITORY / name
        if source.is_file():
            yield source, target
            continue
        directory, pattern = (source.parent, source.name) if "*" in source.name else (source, "**/*")
        for file in directory.glob(pattern):
            inside = file.relative_to(directory)
            if file.is_file() and not {*inside.parts} & {*NOT_PACKAGED}:
                yield file, f"{target}/{inside}"


def _file(target: str, source: Path) -> dict[str, Any]:
    is_program = source.read_bytes()[:2] == b"#!"
    mode = 0o755 if is_program else 0o644
    return {"src": str(source), "dst": target, "file_info": {"mode": mode, "owner": "root", "group": "root"}}


def _settings(name: str) -> dict[str, Any]:
    """It contains passwords; systemd reads it as root."""
    return {
        "src": str(REPOSITORY / "collectors" / name),
        "dst": f"{SETTINGS}/{name}",
        "type": "config|noreplace",
        "file_info": {"mode": 0o600, "owner": "root", "group": "root"},
    }


def configuration(name: str, package: Package, version: str, scripts: Path) -> dict[str, Any]:
    """Returns nfpm's configuration of a package, and writes its scripts into `scripts`."""
    values = {"@UNITS@": " ".join(package["units"]), "@NAME@": name}
    for script in SCRIPTS:
        text = (HERE / f"{script}.sh").read_text()
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        (scripts / script).write_text(text)
    at = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), UTC).isoformat()
    overrides = {each: package[each] for each in FORMATS}
    return {
        "name": name,
        "arch": "all",
        "version": version,
        "section": "database",
        "maintainer": "Tailrace",
        "license": "Apache-2.0",
        "description": package["description"],
        "mtime": at,
        "rpm": {"buildhost": "tailrace"},
        "contents": contents(name, package),
        "scripts": {script: str(scripts / script) for script in SCRIPTS},
        "overrides": json.loads(json.dumps(overrides).replace("${VERSION}", version)),
    }


def build(directory: Path, version: str) -> None:
    """Writes all packages. Raises subprocess.CalledProcessError."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, package in packages().items():
        with tempfile.TemporaryDirectory() as place:
            file = Path(place, "nfpm.yaml")
            file.write_text(yaml.safe_dump(configuration(name, package, version, Path(place))))
            for packager in FORMATS:
                words = ["package", "--config", file, "--packager", packager, "--target", directory]
                subprocess.run([nfpm(), *words], stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    default = (REPOSITORY / "VERSION").read_text().strip()
    build(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else default)
