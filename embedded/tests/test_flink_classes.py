"""The class path of the Flink jobs, and their class archive: a failed one is harmless and not made again."""

import subprocess
import zipfile
from pathlib import Path

from tailrace_local.components import class_archive, flink, flink_classes
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


def test_the_rpc_system_is_on_the_class_path_instead_of_its_loader(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "flink-rpc-akka-loader-2.2.1.jar", "w") as loader:
        loader.writestr("flink-rpc-akka.jar", "the classes")
        loader.writestr("META-INF/services/org.apache.flink.runtime.rpc.RpcSystemLoader", "the loader")
    (tmp_path / "flink-rpc-core-2.2.1.jar").touch()

    flink.unpack_rpc_system(tmp_path)

    assert {path.name for path in tmp_path.iterdir()} == {"flink-rpc-akka.jar", "flink-rpc-core-2.2.1.jar"}
    assert (tmp_path / "flink-rpc-akka.jar").read_text() == "the classes"
