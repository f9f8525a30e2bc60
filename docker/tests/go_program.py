"""Small programs in Go beside the tests: what an engine's own library makes of our files."""

import subprocess
from pathlib import Path

from tailrace.config import content_hash
from tailrace.config.settings import Settings
from tailrace_local.supervisor import cache


def built(sources: Path) -> Path:
    """The program of a directory with main.go, go.mod and go.sum, named after it; built once per content."""
    files = [sources / name for name in ("main.go", "go.mod", "go.sum")]
    entry = Settings.from_environment().cache / sources.name / content_hash.fingerprint(*files)
    if not entry.exists():
        with cache.build(entry) as draft:
            build = ["go", "build", "-trimpath", "-buildvcs=false", "-o", draft / sources.name, "."]
            subprocess.run(build, cwd=sources, check=True)
    return entry / sources.name
