"""Archives the classes of the Flink jobs (class data sharing), which halves the processor time of a start.

The JVM writes an archive from a list of classes. The list comes from a run of the normalize job without Kafka
and ClickHouse: it starts anyway, and the detect job uses nearly the same classes. Everything also works
without an archive, only slower. The JVM ignores an archive that does not fit it or the class path.
"""

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tailrace_local.supervisor import cache
from tailrace_local.supervisor.component import InstallError, Progress

START_SECONDS = 120
POLL_SECONDS = 0.2
CHECKPOINT_MILLIS = 500
STOP_SECONDS = 30
NOWHERE = "127.0.0.1:1"


def options(archive: Path) -> list[str]:
    """Returns the options of a JVM that may use the archive."""
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:class+path=off"]


def make(archive: Path, java: Sequence[str], main_class: str, progress: Progress) -> None:
    """Archives the classes of a job; `java` is the JVM with its options and class path.

    After a failure the archive is an empty file, so that there is no second attempt.
    """
    with cache.locked(archive):  # both jobs are installed in parallel, and share one archive
        if archive.exists():
            return
        progress.report("archiving the classes of the Flink job")
        draft = archive.with_name(f"{archive.name}.{os.getpid()}")
        with tempfile.TemporaryDirectory(prefix="tailrace-classes-") as directory:
            listed = Path(directory) / "classes"
            _run_once(java, main_class, listed)
            dump = [*java, "-Xshare:dump", f"-XX:SharedClassListFile={listed}"]
            with suppress(InstallError):
                progress.run([*dump, f"-XX:SharedArchiveFile={draft}"])
        if not draft.exists():
            draft.touch()
        draft.replace(archive)


def _run_once(java: Sequence[str], main_class: str, listed: Path) -> None:
    """Runs the job until its first checkpoint is complete; the JVM lists the classes that it loads."""
    web, metrics = _free_ports()
    configuration = listed.with_name("job.yaml")
    password = listed.with_name("password")
    password.touch()
    values = {
        "kafka.bootstrap": NOWHERE,
        "clickhouse.url": f"http://{NOWHERE}",
        "clickhouse.user": "nobody",
        "clickhouse.password-file": password,
        "checkpoint.interval.ms": CHECKPOINT_MILLIS,
        "checkpoint.dir": listed.with_name("checkpoints").as_uri(),
        "web.port": web,
        "metrics.port": metrics,
    }
    configuration.write_text("".join(f"{key}: {value}\n" for key, value in values.items()))
    listing = ["-Xshare:off", f"-XX:DumpLoadedClassList={listed}"]
    job = subprocess.Popen(
        [*java, *listing, main_class, "--config", configuration],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while job.poll() is None and time.monotonic() < deadline and not _has_checkpoint(web):
            time.sleep(POLL_SECONDS)
        job.terminate()
        job.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        job.kill()
        job.wait()


def _has_checkpoint(port: int) -> bool:
    """Returns whether the job with this web UI has completed a checkpoint."""
    with suppress(OSError, ValueError):
        for job in _ask(port, "/jobs/overview")["jobs"]:
            return _ask(port, f"/jobs/{job['jid']}/checkpoints")["counts"]["completed"] > 0
    return False


def _ask(port: int, path: str) -> dict:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=1) as answer:
        return json.load(answer)


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
