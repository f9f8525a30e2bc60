"""Checks whether a component's disk is full: the consequences differ by component."""

import shutil
from pathlib import Path

MIN_FREE_BYTES = 160 << 20
"""More than the 128 MiB at which ClickHouse begins to refuse rows (sql/users/config.xml.template)."""


def problem(directory: Path) -> str:
    """Returns one clause if the disk of the directory is nearly full, otherwise an empty text."""
    free = shutil.disk_usage(directory).free
    if free >= MIN_FREE_BYTES:
        return ""
    return (
        f"the disk of {directory} is full ({free / 1e6:.0f} MB free); free space, it recovers automatically"
    )
