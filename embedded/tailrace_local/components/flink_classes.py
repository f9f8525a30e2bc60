"""Archives the classes of the Flink jobs.

The list comes from a run of the normalize job without Kafka and ClickHouse: it starts anyway, and the detect
job uses nearly the same classes.
"""

import json
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tailrace_local.components import class_archive
from tailrace_local.supervisor.component import Progress

CHECKPOINT_MILLIS = 500
NOWHERE = "127.0.0.1:1"


def make(archive: Path, java: Sequence[str], main_class: str, progress: Progress) -> None:
    """Archives the classes of a job; `java` is the JVM with its options and class path."""

    def run_once(directory: Path, listing: Sequence[str]) -> None:
        _run_once([*java, *listing, main_class], directory)

    class_archive.make(archive, java, run_once, progress)


def _run_once(job: Sequence[str], directory: Path) -> None:
    """Runs the job until its first checkpoint is complete."""
    web, metrics = class_archive.free_ports()
    configuration = directory / "job.yaml"
    password = directory / "password"
    password.touch()
    values = {
        "kafka.bootstrap": NOWHERE,
        "clickhouse.url": f"http://{NOWHERE}",
        "clickhouse.user": "nobody",
        "clickhouse.password-file": password,
        "checkpoint.interval.ms": CHECKPOINT_MILLIS,
        "checkpoint.dir": (directory / "checkpoints").as_uri(),
        "web.port": web,
        "metrics.port": metrics,
    }
    configuration.write_text("".join(f"{key}: {value}\n" for key, value in values.items()))
    class_archive.run_until([*job, "--config", configuration], lambda: _has_checkpoint(web))


def _has_checkpoint(port: int) -> bool:
    """Returns whether the job with this web UI has completed a checkpoint."""
    with suppress(OSError, ValueError):
        for job in _ask(port, "/jobs/overview")["jobs"]:
            return _ask(port, f"/jobs/{job['jid']}/checkpoints")["counts"]["completed"] > 0
    return False


def _ask(port: int, path: str) -> dict:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=1) as answer:
        return json.load(answer)
