"""Helm itself, installed from its Go module."""

import os
import subprocess
from pathlib import Path

from tailrace.config import content_hash
from tailrace.config.settings import Settings
from tailrace_local.supervisor import cache

HELM = "helm.sh/helm/v3/cmd/helm@v3.22.0"


def helm() -> Path:
    """Returns the program. The first call builds it, in four CPU-minutes; Go's checksum database verifies it.

    Raises subprocess.CalledProcessError if the build fails, and FileNotFoundError where Go is not installed.
    """
    entry = Settings.from_environment().cache / "helm" / content_hash.fingerprint(HELM)
    if not entry.exists():
        with cache.build(entry) as draft:
            environment = {**os.environ, "GOBIN": str(draft), "GOFLAGS": "-trimpath"}
            subprocess.run(["go", "install", HELM], env=environment, check=True)
    return entry / "helm"
