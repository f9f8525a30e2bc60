"""Copies the files of the repository that the package reads into the wheel; pyproject.toml has the rest."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDERS = ("collectors", "dashboards", "rules", "samples", "schemas", "sql")
NOT_NEEDED = shutil.ignore_patterns("tests", "bench", "__pycache__", "node_modules", "src", "pom.xml")


class BuildWithResources(build_py):
    """Makes tailrace/resources, where `tailrace.config.resources` looks first."""

    def run(self) -> None:
        super().run()
        for name in FOLDERS:
            target = Path(self.build_lib, "tailrace", "resources", name)
            shutil.copytree(REPOSITORY / name, target, ignore=NOT_NEEDED, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithResources})
