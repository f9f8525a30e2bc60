"""The files that the package reads besides its code: sql/, schemas/, dashboards/, rules/, and others.

A wheel has copies of them in tailrace/resources. In a source checkout they are the repository's own.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]

PYTHON_PATH = _PACKAGE.parent
"""The directory that contains this package: the PYTHONPATH of child processes."""
REPOSITORY = _PACKAGE.parents[1]
"""The source checkout; meaningless where the package was installed from a wheel."""
IS_PACKAGED = (_PACKAGE / "resources").is_dir()
ROOT = _PACKAGE / "resources" if IS_PACKAGED else REPOSITORY
"""The directory that contains sql/, schemas/, dashboards/, rules/, collectors/ and samples/."""
