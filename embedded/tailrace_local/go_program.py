"""Programs of test and release that are installed from their Go modules."""

import os
import subprocess
from pathlib import Path

from tailrace.config import content_hash
from tailrace.config.settings import Settings
from tailrace_local.supervisor import cache


def installed(name: str, package: str) -> Path:
    """Returns a program of the cache. The first call builds `package`, such as example.org/cmd/NAME@v1.2.3;
    Go's checksum database verifies it.

    Raises subprocess.CalledProcessError if the build fails, and FileNotFoundError where Go is not installed.
    """
    entry = Settings.from_environment().cache / name / content_hash.fingerprint(package)
    if not entry.exists():
        with cache.build(entry) as draft:
            environment = {**os.environ, "GOBIN": str(draft), "GOFLAGS": "-trimpath"}
            subprocess.run(["go", "install", package], env=environment, check=True)
    return entry / name
