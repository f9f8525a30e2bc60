"""A release of the chart on a control plane, by Helm's program, and what it leaves there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from helm.cluster import programs
from helm.cluster.control_plane import LIMIT_SECONDS, ControlPlane

CHART = Path(__file__).parents[1] / "tailrace"
BY_KUBERNETES = {"ServiceAccount/default", "ConfigMap/kube-root-ca.crt"}
"""What each namespace has by itself."""

NOT_NOW = "retention.schedule=0 0 29 2 *"
"""So that no pod of the CronJob appears while a test runs."""
WORKLOADS = ("Deployment", "DaemonSet", "StatefulSet", "Job")


@dataclass(frozen=True)
class Release:
    """Its methods take files, profiles (`small`) and `key=value` as for --set, in the order of Helm."""

    cluster: ControlPlane
    helm: Path
    namespace: str
    name: str = "tailrace"
    renderer: tuple[str, ...] = ()
    """A post-renderer with its arguments, of Helm 3: a program that changes the rendered manifests."""

    def install(self, *values: str | Path, chart: Path = CHART) -> str:
        return self._checked("install", self.name, chart, *self._rendering(), *_options(chart, values))

    def upgrade(self, *values: str | Path, chart: Path = CHART) -> str:
        return self._checked("upgrade", self.name, chart, *self._rendering(), *_options(chart, values))

    def rollback(self, revision: int) -> str:
        return self._checked("rollback", self.name, str(revision))

    def refused_rollback(self, revision: int) -> str:
        """Returns the messages of a rollback that must fail."""
        done = self._run("rollback", self.name, str(revision))
        assert done.returncode != 0, done.stdout
        return done.stderr

    def uninstall(self) -> str:
        return self._checked("uninstall", self.name)

    def render(self, *values: str | Path, chart: Path = CHART) -> list[dict]:
        """What Helm would send. It asks no server, so it needs the version of Kubernetes."""
        options = _options(chart, values)
        words = ["template", self.name, chart, "--kube-version", programs.kubernetes_version(), *options]
        done = self.cluster.run([self.helm, *words, "--namespace", self.namespace])
        assert done.returncode == 0, done.stderr
        return [resource for resource in yaml.safe_load_all(done.stdout) if resource]

    def _rendering(self) -> list[str]:
        words = [word for argument in self.renderer[1:] for word in ("--post-renderer-args", argument)]
        return ["--post-renderer", self.renderer[0], *words] if self.renderer else []

    def _checked(self, *words: str | Path) -> str:
        done = self._run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _run(self, *words: str | Path) -> Any:
        common = ["--namespace", self.namespace, "--wait", "--timeout", f"{LIMIT_SECONDS:.0f}s"]
        return self.cluster.run([self.helm, *words, *common])

    def objects(self) -> set[str]:
        """`Kind/name` of everything in the namespace but events and what Kubernetes makes by itself."""
        found = {
            f"{each['kind']}/{each['name']}" for each in listed(self.cluster, f"namespaces/{self.namespace}/")
        }
        return found - BY_KUBERNETES

    def get(self, kind: str, *words: str) -> list[dict]:
        """Resources of a kind in the namespace, by kubectl's name for it."""
        answer = self.cluster.kubectl("get", kind, "--namespace", self.namespace, "--output", "yaml", *words)
        return yaml.safe_load(answer)["items"]

    def await_objects(self, expected: set[str]) -> None:
        """Waits until the namespace contains these objects and no other: the garbage collector is slow."""
        until = self.cluster.within_limit()
        while (found := self.objects()) != expected:
            assert until(), f"missing: {sorted(expected - found)}; too many: {sorted(found - expected)}"

    def components(self) -> set[str]:
        """The components of the release whose pods run."""
        return {
            pod["metadata"]["labels"]["app.kubernetes.io/component"]
            for pod in self.get("pods", "--selector", f"app.kubernetes.io/instance={self.name}")
            if pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
        }

    def await_components(self, expected: set[str]) -> None:
        until = self.cluster.within_limit()
        while (found := self.components()) != expected:
            assert until(), f"missing: {sorted(expected - found)}; too many: {sorted(found - expected)}"


def listed(cluster: ControlPlane, where: str = "") -> list[dict[str, str]]:
    """`kind` and `name` of all objects: of the cluster itself, or below `where`, `namespaces/NAME/`."""
    found = []
    for prefix, resource in api_resources(cluster):
        wanted = resource["namespaced"] == bool(where) and "list" in resource["verbs"]
        if wanted and resource["kind"] != "Event":
            items = cluster.get(f"{prefix}/{where}{resource['name']}")["items"]
            found += [{"kind": resource["kind"], "name": each["metadata"]["name"]} for each in items]
    return found


def api_resources(cluster: ControlPlane) -> list[tuple[str, dict]]:
    """Every resource in its preferred version, subresources too, with the path of its group."""
    groups = [group["preferredVersion"]["groupVersion"] for group in cluster.get("/apis")["groups"]]
    paths = ["/api/v1", *(f"/apis/{group}" for group in groups)]
    return [(path, resource) for path in paths for resource in cluster.get(path)["resources"]]


def _options(chart: Path, values: tuple[str | Path, ...]) -> list[str | Path]:
    words: list[str | Path] = ["--set", NOT_NOW] if (chart / "templates/retention.yaml").exists() else []
    for value in values:
        if isinstance(value, Path):
            words += ["--values", value]
        elif "=" in value:
            words += ["--set", value]
        else:
            words += ["--values", chart / "profiles" / f"{value}.yaml"]
    return words
