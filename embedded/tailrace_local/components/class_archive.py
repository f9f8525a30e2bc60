"""Archives the classes of a Java program (class data sharing), which halves the processor time of its start.

The JVM writes an archive from a list of classes, and the list while the program runs once.
Everything works without an archive, only slower. The JVM ignores an archive that does not fit.
"""

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tailrace_local.supervisor import cache
from tailrace_local.supervisor.component import InstallError, Progress

START_SECONDS = 120
POLL_SECONDS = 0.2
STOP_SECONDS = 30


def options(archive: Path) -> list[str]:
    """Returns the options of a JVM that may use the archive."""
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:class+path=off"]


def make(
    archive: Path,
    java: Sequence[str],
    run_once: Callable[[Path, Sequence[str]], None],
    progress: Progress,
) -> None:
    """Archives the classes that a program loads; `java` is the JVM with its options and class path.

    `run_once` runs the program. It gets an empty directory, and options that it must pass to the JVM. After a
    failure the archive is an empty file, so that there is no second attempt.
    """
    with cache.locked(archive):  # both Flink jobs are installed in parallel, and share one archive
        if archive.exists():
            return
        progress.report("archiving its Java classes")
        draft = archive.with_name(f"{archive.name}.{os.getpid()}")
        with tempfile.TemporaryDirectory(prefix="tailrace-classes-") as directory:
            listed = Path(directory) / "classes"
            with suppress(InstallError, OSError):
                listing = ["-Xshare:off", f"-XX:DumpLoadedClassList={listed}"]
                # Optimised code does not pay off in this run; the compiler would take half of its time.
                run_once(Path(directory), ["-XX:TieredStopAtLevel=1", *listing])
                dump = [*java, "-Xshare:dump", f"-XX:SharedClassListFile={listed}"]
                progress.run([*dump, f"-XX:SharedArchiveFile={draft}"])
        if not draft.exists():
            draft.touch()
        draft.replace(archive)


def run_until(command: Sequence[str | Path], is_ready: Callable[[], bool]) -> None:
    """Runs a program until it is ready, and then ends it; after START_SECONDS also if it is not ready."""
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while program.poll() is None and time.monotonic() < deadline and not is_ready():
            time.sleep(POLL_SECONDS)
        program.terminate()
        program.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()


def free_ports() -> tuple[int, int]:
    """Returns two ports on which no process listens now."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
