"""Java programs of the suite: processes that act for simulated pods, with the rights of service accounts."""

import json
import os
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path

import yaml

from docker.tests.conftest import ToOutput
from helm.cluster.control_plane import ControlPlane
from tailrace.config import content_hash
from tailrace.config.settings import Settings
from tailrace_local.components.flink import OPENED_PACKAGES
from tailrace_local.supervisor import launch, maven

SOURCES = Path(__file__).parent / "flink"
LOGGING = """\
rootLogger.level=INFO
rootLogger.appenderRef.c.ref=c
appender.c.type=Console
appender.c.name=c
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d %-5p %c{1} - %m%n
"""


def jars(directory: Path) -> Path:
    """Returns where the jars of a directory's pom are. The first call downloads them from Maven Central."""
    pom = directory / "pom.xml"
    entry = Settings.from_environment().cache / "flink-kubernetes" / content_hash.fingerprint(pom)
    if not entry.exists():
        maven.copy_dependencies(ToOutput(), pom, entry)
    return entry


def compiled(source: Path, libraries: str, home: Path) -> Path:
    """Returns a jar with the classes of a source file. `libraries` is a class path."""
    classes = home / "classes"
    subprocess.run(["javac", "--release", "17", "-cp", libraries, "-d", classes, source], check=True)
    jar = home / f"{source.stem.lower()}.jar"
    with zipfile.ZipFile(jar, "w") as opened:
        for path in classes.glob("*.class"):
            opened.write(path, path.name)
    return jar


def write_account(cluster: ControlPlane, namespace: str, account: str, path: Path) -> None:
    """Writes a kubeconfig with a token of a service account."""
    where = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    status, answer = cluster.ask(where, request)
    assert status == HTTPStatus.CREATED, answer
    user = cluster.configuration({"token": json.loads(answer)["status"]["token"]}, namespace)
    path.write_text(yaml.safe_dump(user))
    path.chmod(0o600)


def hosts(home: Path, names: dict[str, str]) -> str:
    """Returns an option of Java with which these names, by their address, are the only ones."""
    file = home / "hosts"
    file.write_text("".join(f"{address} {each}\n" for address, each in names.items()))
    return f"-Djdk.net.hosts.file={file}"


def start(
    log: Path, class_path: str, words: Sequence[str | Path], environment: dict[str, str], *options: str
) -> subprocess.Popen:
    """Starts a main class with its arguments. The process ends with this one."""
    logging = log.with_name("log4j2.properties")
    logging.write_text(LOGGING)
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES]
    java = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dlog4j2.configurationFile={logging}"]
    with open(log, "a") as output:
        return subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", launch.__file__, str(os.getpid())),
                *(*java, *options, *opened, "-cp", class_path, *(str(word) for word in words)),
            ],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,  # an interrupt at the terminal is for us
        )


def worker_options(pod: dict) -> list[str]:
    """What Flink's script in the pod of a TaskManager gives to its main class."""
    script = pod["spec"]["containers"][0]["args"][-1]  # `kubernetes-taskmanager.sh -Dkey=value -D key=value`
    options = [word.removeprefix("-D") for word in shlex.split(script)[1:] if word != "-D"]
    return [word for option in options for word in ("-D", option)]


def requests(cluster: ControlPlane, namespace: str, account: str) -> dict[str, set[int]]:
    """Answers to a service account by `verb resource.group`, from the API server's audit log."""
    name = f"system:serviceaccount:{namespace}:{account}"
    found: dict[str, set[int]] = {}
    for line in (cluster.home / "audit.log").read_text().splitlines():
        event = json.loads(line)
        if event["user"]["username"] == name and "objectRef" in event:
            where = event["objectRef"]
            group = f".{where['apiGroup']}" if "apiGroup" in where else ""
            found.setdefault(f"{event['verb']} {where['resource']}{group}", set()).add(
                event["responseStatus"]["code"]
            )
    return found
