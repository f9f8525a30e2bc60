"""Locates the files that the package reads: sql/, schemas/, dashboards/, rules/, and others.

A wheel contains copies of them in tailrace/resources. In a source checkout they are those of the repository.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]

PYTHON_PATH = _PACKAGE.parent
"""The directory that contains this package: the PYTHONPATH of child processes."""
REPOSITORY = _PACKAGE.parents[1]
"""The source checkout; undefined if the package was installed from a wheel."""
IS_PACKAGED = (_PACKAGE / "resources").is_dir()
ROOT = _PACKAGE / "resources" if IS_PACKAGED else REPOSITORY
"""The directory that contains sql/, schemas/, dashboards/, rules/, collectors/ and samples/."""
