"""The Java side, built from source: the normalize job and the command line, one cache entry per source."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from tailrace.config import content_hash
from tailrace.config.command_line_jar import class_archive, last_build
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import Settings
from tailrace_local.supervisor import cache, maven
from tailrace_local.supervisor.component import InstallError, Progress

SOURCES = ("stream-jobs", "schemas")
NOT_SOURCES = ("target", ".idea", ".vscode")
TESTS = ("test", "tests")
JARS = {"normalize.jar": "flink-jobs", "cli.jar": "cli"}
"""The jar's name in the cache → the Maven module that builds it."""

_one_at_a_time = threading.Lock()
"""Both jobs are installed in parallel and share the jars."""

SAMPLE = REPOSITORY / "samples" / "mysql-8.0.46.slow.log"


def jar(settings: Settings, name: str) -> Path:
    """Returns the jar of the current sources, or if they are not built, the last jar built in this clone.

    Sources may be edited while the stack runs: a crash must not need a compiler.
    """
    entry = _entry(settings)
    return (entry if entry.exists() else last_build(settings)) / name


def built_jar(settings: Settings, name: str) -> Path | None:
    """Returns the jar of the current sources if it is in the cache."""
    entry = _entry(settings)
    return entry / name if entry.exists() else None


def are_built(settings: Settings) -> bool:
    """Returns whether the jars of the current sources are in the cache."""
    return _entry(settings).exists()


def build(settings: Settings, progress: Progress) -> None:
    """Builds the jars if the sources have changed. Raises InstallError.

    It builds a copy, so that it does not interfere with a build in the source tree.
    """
    entry = _entry(settings)
    with _one_at_a_time:
        if not entry.exists():
            progress.report("building the Flink jobs and the command line (Maven), which takes minutes")
            _build(entry, progress)
            _archive_classes(entry)
        last = last_build(settings)
        link = last.with_name(f"{last.name}.{os.getpid()}")
        link.symlink_to(entry)
        link.replace(last)


def _build(entry: Path, progress: Progress) -> None:
    with cache.build(entry) as draft:
        if entry.exists():
            return  # another process has built the same
        tree = draft / "tree"
        for name in SOURCES:
            shutil.copytree(REPOSITORY / name, tree / name, ignore=shutil.ignore_patterns(*NOT_SOURCES))
        maven.run(progress, tree / "stream-jobs" / "pom.xml", "package", "-Dmaven.test.skip=true")
        for name, module in JARS.items():
            _built_jar(tree / "stream-jobs" / module / "target").rename(draft / name)
        shutil.rmtree(tree)


def _archive_classes(entry: Path) -> None:
    """Reads a sample once and archives the loaded classes. Everything also works without an archive, only
    slower.

    The run uses no compiler: a method that waits for one during archiving is archived as waiting, and a JVM
    with that archive never compiles it (JDK 17). Digests took 50 % longer with one.
    """
    jar = entry / "cli.jar"
    draft = entry / "cli.jsa.draft"
    command = [
        "java",
        "-Xint",
        "-XX:+UseSerialGC",
        f"-XX:ArchiveClassesAtExit={draft}",
        "-jar",
        str(jar),
        "digest",
        str(SAMPLE),
    ]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if draft.exists():
        draft.rename(class_archive(jar))


def _entry(settings: Settings) -> Path:
    pieces = [piece for file in _files() for piece in (str(file.relative_to(REPOSITORY)), file)]
    return settings.cache / "jobs" / content_hash.fingerprint(*pieces)


def _files() -> Iterator[Path]:
    """Yields every source file in a fixed order, without tests and build results."""
    for name in SOURCES:
        for directory, below, files in os.walk(REPOSITORY / name):
            below[:] = sorted(set(below) - {*NOT_SOURCES, *TESTS})
            yield from (Path(directory, file) for file in sorted(files) if file != "README.md")


def _built_jar(target: Path) -> Path:
    jars = [path for path in target.glob("*.jar") if not path.name.startswith("original-")]
    if len(jars) != 1:
        raise InstallError(f"expected one jar in {target}, found {[path.name for path in jars]}")
    return jars[0]
