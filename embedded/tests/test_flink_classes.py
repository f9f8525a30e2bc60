"""The archive of the Flink jobs' classes: a failed one is harmless and is not created again."""

import subprocess
from pathlib import Path

from tailrace_local.components import class_archive, flink_classes
from tailrace_local.supervisor.install import LoggedProgress


def test_without_an_archive_the_jvm_runs_silently(tmp_path: Path):
    archive = tmp_path / "classes.jsa"
    steps: list[str] = []
    progress = LoggedProgress("flink", tmp_path / "log", lambda _, doing: steps.append(doing))
    for _ in range(2):
        flink_classes.make(archive, ["java", "-cp", str(tmp_path / "nothing.jar")], "NoSuchClass", progress)

    assert len(steps) == 1, "one attempt is enough"
    done = subprocess.run(
        ["java", *class_archive.options(archive), "-version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    assert "SharedArchive" not in done.stderr and "rror" not in done.stderr
