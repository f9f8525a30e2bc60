"""Programs of a Kubernetes control plane without nodes, built from Go modules.

Each directory of `modules` pins its programs in go.mod, and Go verifies every module with go.sum. They are
separate modules, because the programs need different versions of the same libraries.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import yaml

from tailrace.config import content_hash
from tailrace.config.settings import Settings
from tailrace_local.supervisor import cache

MODULES = Path(__file__).parent / "modules"
PROMETHEUS_OPERATOR = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
STAGES = ("node/fast", "node/heartbeat-with-lease", "pod/fast")
"""Nodes are ready, pods run at once, and pods of Jobs succeed at once."""

HELM4_VERSION = "v4.3.1"


def etcd() -> Path:
    """Returns the program. The first call of each function builds: 110 CPU-seconds for this one."""
    return _built("etcd") / "server"


def kubernetes() -> Path:
    """Returns the directory of the control plane's programs and kubectl: 890 CPU-seconds."""
    version = kubernetes_version()
    minor = version.split(".")[1]
    return _built(
        "kubernetes",
        f"k8s.io/component-base/version.gitVersion=v{version}",
        "k8s.io/component-base/version.gitMajor=1",
        f"k8s.io/component-base/version.gitMinor={minor}",
        f"k8s.io/client-go/pkg/version.gitVersion=v{version}",
    )


def kubernetes_version() -> str:
    """Returns the version without `v`."""
    return _pinned("kubernetes", "k8s.io/kubernetes").removeprefix("v")


def kwok() -> Path:
    """Returns the program: 240 CPU-seconds."""
    return _built("kwok") / "kwok"


def helm4() -> Path:
    """Returns Helm 4: 190 CPU-seconds. `helm.program` builds Helm 3."""
    return _built("helm4", f"helm.sh/helm/v4/internal/version.version={HELM4_VERSION}") / "helm"


def kwok_stages() -> str:
    """Returns YAML documents of STAGES from kwok's module; the program contains none."""
    stages = _directory(f"sigs.k8s.io/kwok@{_pinned('kwok', 'sigs.k8s.io/kwok')}") / "kustomize/stage"
    files = [path for stage in STAGES for path in sorted((stages / stage).glob("*.yaml"))]
    documents = [path.read_text() for path in files if path.name != "kustomization.yaml"]
    assert all(yaml.safe_load(each)["kind"] == "Stage" for each in documents), files
    return "\n---\n".join(documents)


def prometheus_definitions() -> list[Path]:
    """Returns the Prometheus operator's CustomResourceDefinitions of the kinds that the chart makes."""
    directory = _directory(PROMETHEUS_OPERATOR) / "example/prometheus-operator-crd"
    return [directory / f"monitoring.coreos.com_{kind}.yaml" for kind in ("podmonitors", "prometheusrules")]


def _built(module: str, *variables: str) -> Path:
    """Builds the tools of a module, once per content. The linker sets variables, `package.name=value`.

    Raises subprocess.CalledProcessError if the build fails, and FileNotFoundError where Go is not installed.
    """
    sources = [MODULES / module / name for name in ("go.mod", "go.sum")]
    entry = (
        Settings.from_environment().cache
        / f"kubernetes-{module}"
        / content_hash.fingerprint(*sources, *variables)
    )
    if not entry.exists():
        with cache.build(entry) as draft:
            flags = " ".join(["-s", "-w", *(f"-X {each}" for each in variables)])
            command = ["go", "build", "-trimpath", "-ldflags", flags, "-o", f"{draft}/", *_tools(module)]
            subprocess.run(command, cwd=_sources(module, draft), env=_environment(), check=True)
            shutil.rmtree(draft / "sources")
    return entry


def _sources(module: str, draft: Path) -> Path:
    """A copy of the module: a build must not write into the repository."""
    return Path(shutil.copytree(MODULES / module, draft / "sources"))


def _tools(module: str) -> list[str]:
    return [each["Path"] for each in _read(module)["Tool"]]


def _pinned(module: str, dependency: str) -> str:
    return next(each["Version"] for each in _read(module)["Require"] if each["Path"] == dependency)


def _read(module: str) -> dict:
    command = ["go", "mod", "edit", "-json", MODULES / module / "go.mod"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _directory(module: str) -> Path:
    """Where a module's files are; Go's checksum database verifies them."""
    command = ["go", "mod", "download", "-json", module]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=_environment())
    return Path(json.loads(done.stdout)["Dir"])


def _environment() -> dict[str, str]:
    return {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"}
