"""Opens the archive that the settings name."""

import importlib.util
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tailrace.config.settings import Settings
from tailrace.errors import ReportedError, UsageError

if TYPE_CHECKING:
    from tailrace.archive.location import Location

PACKAGES = ("pyarrow", "pyiceberg", "sqlalchemy")


class MissingPackagesError(ReportedError):
    """The optional packages are not installed; the message states the command that installs them."""


def require_packages() -> None:
    """Raises MissingPackagesError."""
    if missing := [name for name in PACKAGES if importlib.util.find_spec(name) is None]:
        raise MissingPackagesError(
            f"the archive needs {', '.join(missing)}; install them:"
            f" {sys.executable} -m pip install pyarrow==26.0.1 'pyiceberg[sql-sqlite]==0.12.0'"
        )


def location_of(settings: Settings, address: str = "") -> "Location":
    """Returns the archive at `address`, by default that of TAILRACE_ARCHIVE. Raises UsageError, OSError,
    MissingPackagesError."""
    if not (address or settings.archive):
        raise UsageError("no archive: set TAILRACE_ARCHIVE to a directory or s3://BUCKET/PREFIX")
    require_packages()
    from tailrace.archive import location

    keys = keys_of(settings.archive_secret_file)
    access = location.S3Access(settings.archive_endpoint, settings.archive_region, *keys)
    return location.opened(address or settings.archive, access)


def last_end(settings: Settings, now: datetime | None = None) -> date:
    """Returns the day before which all days are closed: their end is TAILRACE_ARCHIVE_DELAY hours ago."""
    now = now or datetime.now(UTC)
    return (now - timedelta(hours=settings.archive_delay)).date()


def keys_of(file: Path) -> tuple[str, str]:
    """Returns the id and the key of a bucket; empty if there is no file. Raises OSError."""
    if file == Path():
        return "", ""
    key_id, _, key = file.expanduser().read_text().partition("\n")
    return key_id.strip(), key.strip()
