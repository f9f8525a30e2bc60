"""A Kubernetes control plane for the tests of this directory, and releases in namespaces of their own."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helm import program
from helm.cluster import definitions, programs
from helm.cluster.control_plane import ControlPlane
from helm.cluster.release import Release

PORT = int(os.environ.get("KUBERNETES_TEST_PORT", "27900"))
"""Of the API server; the next five ports are used too."""

BUILD_SECONDS = 7200
"""The first test of a machine builds the programs: 25 CPU-minutes."""

EVERYTHING, NOTHING, ELSEWHERE = (
    Path(__file__).with_name(f"{name}.yaml") for name in ("everything", "nothing", "elsewhere")
)
"""Values beside those of a profile."""

RESTRICTED = "collector.daemonSet=false"
"""What a namespace that enforces `restricted` needs: the collectors are sidecars, or another release."""
QUOTA = {
    "requests.cpu": "64",
    "requests.memory": "256Gi",
    "limits.memory": "256Gi",
    "requests.storage": "1Ti",
    "pods": "60",
    "services": "20",
}
"""With it, every container must state its requests of processors and memory, and its limit of memory."""


HELMS = {"helm3": program.helm, "helm4": programs.helm4}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(BUILD_SECONDS))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane(tmp_path_factory.mktemp("kubernetes") / "home", PORT) as running:
        running.apply(definitions.all_definitions())
        running.await_(lambda: all_established(running), "the operators' definitions")
        yield running


def all_established(cluster: ControlPlane) -> bool:
    """Whether the API server serves every definition. A new one has no conditions yet."""
    found = cluster.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]
    conditions = [each.get("status", {}).get("conditions") or [] for each in found]
    return all(any(c["type"] == "Established" and c["status"] == "True" for c in each) for each in conditions)


@pytest.fixture(scope="session")
def namespace(cluster: ControlPlane) -> Callable[..., str]:
    """Makes a namespace with a name and labels, and returns its name."""

    def made(name: str, **labels: str) -> str:
        keys = {key.replace("_", "-"): value for key, value in labels.items()}
        of_admission = {f"pod-security.kubernetes.io/{key}": value for key, value in keys.items()}
        resource = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": of_admission},
        }
        cluster.apply([resource])
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        cluster.await_(lambda: cluster.exists(account), f"the service account of {name}")
        return name

    return made


@pytest.fixture(params=HELMS)
def release(request: pytest.FixtureRequest, cluster: ControlPlane, namespace: Callable[..., str]) -> Release:
    """A release that is not installed, of each version of Helm, in a namespace named after the test."""
    name = f"{request.function.__name__.removeprefix('test_').replace('_', '-')[:50]}-{request.param}"
    return Release(cluster, HELMS[request.param](), namespace(name))


@pytest.fixture(scope="session")
def restricted(cluster: ControlPlane, namespace: Callable[..., str]) -> Release:
    """A release with everything on, where `restricted`, QUOTA and closed networks are in force."""
    name = namespace("restricted", enforce="restricted")
    cluster.apply([quota("all", QUOTA), closed()], name)
    release = Release(cluster, program.helm(), name)
    release.install("large", EVERYTHING, RESTRICTED)
    return release


def quota(name: str, hard: dict[str, str]) -> dict:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard}}


def closed() -> dict:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "closed"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }
