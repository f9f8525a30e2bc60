"""Whether a component's disk has room left: what a full one breaks looks different in each component."""

import shutil
from pathlib import Path

MIN_FREE_BYTES = 160 << 20
"""More than the 128 MiB at which ClickHouse begins to refuse rows (sql/users/config.xml.template)."""


def problem(directory: Path) -> str:
    """One clause if the disk that holds the directory is as good as full, otherwise empty."""
    free = shutil.disk_usage(directory).free
    if free >= MIN_FREE_BYTES:
        return ""
    return f"the disk of {directory} is full ({free / 1e6:.0f} MB free); make room, it goes on by itself"
