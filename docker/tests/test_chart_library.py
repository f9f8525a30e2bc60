"""The chart library of Superset's image: the same files as on one machine, and no other archive."""

import base64
import hashlib
import importlib.util
import io
import tarfile

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace_local.components import superset

_SPEC = importlib.util.spec_from_file_location(
    "chart_library", REPOSITORY / "docker" / "superset" / "chart_library.py"
)
chart_library = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(chart_library)


def archive() -> bytes:
    """Returns a package of npm with the files of the library."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as package:
        for name in (*chart_library.FILES, "dist/other.js"):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(name)
            package.addfile(entry, io.BytesIO(name.encode()))
    return content.getvalue()


def test_the_files_are_those_of_one_machine(tmp_path):
    given = archive()
    integrity = f"sha512-{base64.b64encode(hashlib.sha512(given).digest()).decode()}"
    chart_library.unpack(given, integrity, tmp_path / "uplot")
    assert {path.name for path in (tmp_path / "uplot").iterdir()} == {
        name.rsplit("/", 1)[-1] for name in superset.CHART_FILES
    }


def test_an_archive_with_another_checksum_is_refused(tmp_path):
    with pytest.raises(ValueError, match="expected sha512-other"):
        chart_library.unpack(archive(), "sha512-other", tmp_path / "uplot")
    assert not (tmp_path / "uplot").exists()
