"""The Java side, built from source: the normalize job and the command line, one cache entry per source."""

import functools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from tailrace.settings import REPOSITORY, Settings
from tailrace.stack import cache, maven
from tailrace.stack.part import InstallError, Progress

SOURCES = ("stream-jobs", "schemas")
NOT_SOURCES = ("target", ".idea", ".vscode")
JARS = {"normalize.jar": "flink-jobs", "cli.jar": "cli"}
"""The jar's name in the cache → the Maven module that makes it."""


def jar(settings: Settings, name: str) -> Path:
    """Where a jar is or will be."""
    return _entry(settings) / name


def are_built(settings: Settings) -> bool:
    """Whether the jars of the sources as they are now are in the cache."""
    return _entry(settings).exists()


def build(settings: Settings, progress: Progress) -> None:
    """Builds the jars if the sources have changed. Raises InstallError.

    It works on a copy, so that it neither sees nor disturbs a build in the source tree.
    """
    if are_built(settings):
        return
    progress.say("building the Flink job and the command line (Maven)")
    with cache.build(_entry(settings)) as draft:
        tree = draft / "tree"
        for name in SOURCES:
            shutil.copytree(REPOSITORY / name, tree / name, ignore=shutil.ignore_patterns(*NOT_SOURCES))
        maven.run(progress, tree / "stream-jobs" / "pom.xml", "package", "-Dmaven.test.skip=true")
        for name, module in JARS.items():
            _built_jar(tree / "stream-jobs" / module / "target").rename(draft / name)
        shutil.rmtree(tree)


@functools.cache
def _entry(settings: Settings) -> Path:
    """Found once per process: a running stack restarts the job that it started, whatever is edited."""
    pieces = [piece for file in _files() for piece in (str(file.relative_to(REPOSITORY)), file)]
    return settings.cache / "jobs" / cache.fingerprint(*pieces)


def _files() -> Iterator[Path]:
    """Every source file, in a fixed order; neither tests nor what builds leave is part of it."""
    for name in SOURCES:
        for directory, below, files in os.walk(REPOSITORY / name):
            below[:] = sorted(set(below) - set(NOT_SOURCES) - {"test"})
            yield from (Path(directory, file) for file in sorted(files) if file != "README.md")


def _built_jar(target: Path) -> Path:
    jars = [path for path in target.glob("*.jar") if not path.name.startswith("original-")]
    if len(jars) != 1:
        raise InstallError(f"expected one jar in {target}, found {[path.name for path in jars]}")
    return jars[0]
