"""Installs Debian's Chromium and the packages with which browser.mjs controls it."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

PACKAGES = {
    "chromium-headless-shell": Path("/usr/bin/chromium-headless-shell"),  # browser.mjs
    "chromium": Path("/usr/bin/chromium"),  # user_tasks.mjs
}
FLAGS = "--js-flags=--no-turbofan"
"""Of Chromium in tests: a page runs for seconds. To optimize its scripts takes a tenth of its CPU time."""
INSTALL_CHROMIUM = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES, "fonts-liberation"]
INSTALL_PACKAGES = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]


@cache
def install() -> None:
    """Installs missing packages, once in a run.

    Raises RuntimeError if that needs root, CalledProcessError if it fails.
    """
    if not all(program.exists() for program in PACKAGES.values()):
        _install_chromium()
    subprocess.run(INSTALL_PACKAGES, cwd=Path(__file__).parent, check=True)


def _install_chromium() -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise RuntimeError(f"dashboards are drawn by Chromium; run: sudo {' '.join(INSTALL_CHROMIUM)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "--quiet"], check=True, env=quiet)
    subprocess.run(INSTALL_CHROMIUM, check=True, env=quiet)
