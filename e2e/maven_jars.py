"""Servers for tests as jars of Maven Central, in the cache of components."""

import subprocess
from pathlib import Path

from tailrace.config import content_hash
from tailrace_local.supervisor import cache

DOWNLOAD_SECONDS = 600


def installed(cache_directory: Path, pom: Path) -> Path:
    """Returns a directory with the jars that a pom.xml names, and with those that they need.

    The directory of the pom names the entry of the cache. Raises CalledProcessError without Maven's registry.
    """
    entry = cache_directory / pom.parent.name / content_hash.fingerprint(pom.read_text())
    if not entry.exists():
        with cache.build(entry) as draft:
            goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={draft}"]
            words = ["mvn", "--quiet", "--batch-mode", "--file", pom, *goal]
            subprocess.run(words, check=True, capture_output=True, timeout=DOWNLOAD_SECONDS)
    return entry
