"""A JobManager or TaskManager of Flink as a process, with the jars, options and sizes of Flink's image."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from e2e import maven_jars
from e2e.stack import Stack
from tailrace.config.resources import REPOSITORY
from tailrace_local import java_build
from tailrace_local.components.flink import OPENED_PACKAGES, RPC_SYSTEM, Flink
from tailrace_local.supervisor import launch, procfs

SOURCES = Path(__file__).parent / "flink"
LOGGING = REPOSITORY / "docker" / "tests" / "flink" / "log4j-console.properties"
LEADER = re.compile(rb"DispatcherRunner was (granted|revoked) (?:the )?leadership")
REPLACED = (RPC_SYSTEM, "flink-shaded-zookeeper-")
"""Jars of the one-machine stack, by the beginning of their names. The image has a loader instead of the
first, and a cluster of these tests a newer client of ZooKeeper."""
SIZES = "BASH_JAVA_UTILS_EXEC_RESULT:"
"""The prefix of the lines in which Flink prints the JVM options and configuration of a process."""
JAVA = ("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Compiles little, because processes of a test end soon."""
MANAGER, WORKER = "jobmanager", "taskmanager"
MAIN_CLASSES = {
    MANAGER: "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint",
    WORKER: "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
}


class Installation:
    """The directory of a cluster: jars, plugins and configuration as in Flink's image."""

    def __init__(self, stack: Stack, home: Path) -> None:
        self.home = home
        self.environment = {
            "FLINK_CONF_DIR": str(home),
            "FLINK_LIB_DIR": str(home / "lib"),
            "FLINK_PLUGINS_DIR": str(home / "plugins"),
        }
        self._options: dict[str, Any] = {}
        self._sizes: dict[str, tuple[list[str], list[str]]] = {}
        self._lay_out(stack)

    def _lay_out(self, stack: Stack) -> None:
        settings = stack.settings
        one_machine = Flink(settings, stack.home)._libraries().glob("*.jar")
        plugin = maven_jars.installed(settings.cache, SOURCES / "flink-s3" / "pom.xml")
        jars = {
            "lib": [
                *(jar for jar in one_machine if not jar.name.startswith(REPLACED)),
                *maven_jars.installed(settings.cache, SOURCES / "flink-cluster" / "pom.xml").glob("*.jar"),
            ],
            "usrlib": [java_build.jar(settings, "normalize.jar")],
            "plugins/s3": list(plugin.glob("*.jar")),
        }
        for directory, files in jars.items():
            (self.home / directory).mkdir(parents=True)
            for jar in files:
                link = self.home / directory / jar.name
                if not link.exists():
                    link.symlink_to(jar)

    def configure(self, options: dict[str, Any], memory: dict[str, str]) -> None:
        """Writes the options. `memory` is the size of a process for each role, such as 2g."""
        self._options = options
        (self.home / "config.yaml").write_text(yaml.safe_dump(options))
        self._sizes = {role: self._computed(role, size) for role, size in memory.items()}

    def _computed(self, role: str, size: str) -> tuple[list[str], list[str]]:
        """Returns JVM options and options of Flink, as Flink's scripts compute them."""
        main_class = "org.apache.flink.runtime.util.bash.BashJavaUtils"
        name = {MANAGER: "GET_JM_RESOURCE_PARAMS", WORKER: "GET_TM_RESOURCE_PARAMS"}[role]
        words = [name, "--configDir", str(self.home), f"-D{role}.memory.process.size={size}"]
        done = subprocess.run(
            ["java", "-cp", f"{self.home / 'lib'}/*", main_class, *words],
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=True,
        )
        sizes, dynamic = (
            line.removeprefix(SIZES).split() for line in done.stdout.splitlines() if line.startswith(SIZES)
        )
        return sizes, dynamic

    def command(self, role: str) -> list[str]:
        """Returns the command of a process, as Flink's scripts make it."""
        sizes, dynamic = self._sizes[role]
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES]
        of_chart = self._options.get(f"env.java.opts.{role}", "").split()
        classes = [f"-Dlog4j2.configurationFile={LOGGING}", "-cp", f"{self.home / 'lib'}/*"]
        java = [*JAVA, *sizes, *opened, *of_chart, *classes]
        return [*java, MAIN_CLASSES[role], "--configDir", str(self.home), *dynamic]


class FlinkProcess:
    """A JobManager or TaskManager, which may end and start again. `options` are its own options of Flink."""

    def __init__(self, installation: Installation, role: str, name: str, options: dict[str, object]) -> None:
        self.name = name
        self.options = options
        self._role = role
        self._installation = installation
        self._log_file = installation.home / f"{name}.log"
        self._log_start = 0
        self._process: subprocess.Popen | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> bytes:
        """The output of the process since its last start."""
        return self._log_file.read_bytes()[self._log_start :]

    def start(self, *words: str) -> None:
        """Starts the process with the arguments, and does not wait until it is ready."""
        given = [f"-D{key}={value}" for key, value in self.options.items()]
        launched = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid())]
        with self._log_file.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                [*launched, *self._installation.command(self._role), *given, *words],
                env={**os.environ, **self._installation.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def kill(self) -> None:
        """Sends SIGKILL to the process if it runs, and waits for its end."""
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def peak_bytes(self) -> int:
        """Returns the largest resident memory of the running process until now."""
        assert self._process
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return 1024 * int(status.split("VmHWM:")[1].split()[0])

    def cpu_seconds(self) -> float:
        """Returns the processor time of the running process until now."""
        assert self._process
        found = procfs.read(self._process.pid)
        assert found
        return found.cpu_seconds

    def leads(self) -> bool:
        """Whether this JobManager runs and is the leader."""
        changes = LEADER.findall(self.log)
        return self.is_running and changes[-1:] == [b"granted"]
