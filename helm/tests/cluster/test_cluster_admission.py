"""Pods of the chart in namespaces that enforce Pod Security, a quota and closed networks."""

from http import HTTPStatus

import pytest
import yaml

from helm import program
from helm.cluster import network
from helm.cluster.control_plane import ControlPlane
from helm.cluster.release import Release
from helm.tests.cluster.conftest import closed
from helm.tests.cluster.test_cluster_life import ALL

pytestmark = pytest.mark.kubernetes

WITNESS = 18092
"""Its port."""


def test_every_pod_that_the_chart_makes_is_admitted(restricted):
    restricted.await_components(ALL - {"collector"})
    refused = restricted.get("events", "--field-selector", "reason=FailedCreate")
    assert [each["message"] for each in refused] == []
    (counted,) = restricted.get("resourcequotas")
    assert int(counted["status"]["used"]["pods"]) >= len(ALL) - 1


def of_operators(release: Release) -> dict[str, dict]:
    """The pods that operators make, as their resources describe them, by kind and name."""
    found = {}
    for job in release.get("flinkdeployments"):
        pod = job["spec"]["podTemplate"]
        (container,) = pod["spec"]["containers"]
        container |= {
            "image": job["spec"]["image"],
            "resources": of_flink(job["spec"]["taskManager"]["resource"]),
        }
        found[f"FlinkDeployment/{job['metadata']['name']}"] = pod
    for kind in ("clickhouseinstallations", "clickhousekeeperinstallations"):
        for made in release.get(kind):
            (template,) = made["spec"]["templates"]["podTemplates"]
            found[f"{made['kind']}/{made['metadata']['name']}"] = template
    return found


def of_flink(process: dict) -> dict:
    """Limits and requests that Flink gives its pods; it reads `1500m` as megabytes."""
    sizes = {
        "cpu": str(process["cpu"]),
        "memory": process["memory"].upper().replace("M", "Mi").replace("G", "Gi"),
    }
    return {"requests": sizes, "limits": sizes}


def answer_to_pod(cluster: ControlPlane, namespace: str, template: dict) -> str:
    """What admission says of a pod: nothing if it would be made."""
    metadata = {"labels": template.get("metadata", {}).get("labels", {}), "name": "asked"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    status, answer = cluster.ask(
        f"/api/v1/namespaces/{namespace}/pods?dryRun=All&fieldValidation=Strict", pod
    )
    return "" if status == HTTPStatus.CREATED else answer


def test_every_pod_that_operators_make_is_admitted(restricted):
    pods = of_operators(restricted)
    kinds = sorted(name.partition("/")[0] for name in pods)
    assert kinds == ["ClickHouseInstallation", "ClickHouseKeeperInstallation", *2 * ["FlinkDeployment"]]
    for name, template in pods.items():
        assert answer_to_pod(restricted.cluster, restricted.namespace, template) == "", name


def test_the_sidecar_is_admitted_in_the_pod_of_a_database(restricted):
    (configuration,) = (
        each
        for each in restricted.get("configmaps")
        if each["metadata"]["name"] == "tailrace-collector-sidecar"
    )
    snippet = yaml.safe_load(configuration["data"]["sidecar.yaml"])
    database = {
        "name": "mysql",
        "image": "mysql:8.4",
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [{"name": "logs", "mountPath": "/var/log/mysql"}],
    }
    spec = {
        "initContainers": snippet["initContainers"],
        "containers": [database, *snippet["containers"]],
        "volumes": [*snippet["volumes"], {"name": "logs", "emptyDir": {}}],
    }
    assert answer_to_pod(restricted.cluster, restricted.namespace, {"spec": spec}) == ""


@pytest.mark.parametrize("level", ["restricted", "baseline"])
def test_directories_of_nodes_are_refused(cluster, namespace, level):
    """The DaemonSet: what README.md gives a namespace of its own for."""
    release = Release(cluster, program.helm(), namespace(f"refused-{level}", enforce=level))
    (collector,) = (each for each in release.render("collectors") if each["kind"] == "DaemonSet")
    said = answer_to_pod(cluster, release.namespace, collector["spec"]["template"])
    assert f'violates PodSecurity \\"{level}:latest\\"' in said
    assert "hostPath" in said


def test_the_collectors_are_a_release_of_their_own(restricted, namespace):
    own = Release(
        restricted.cluster, restricted.helm, namespace("collectors", enforce="privileged"), "collectors"
    )
    own.install("collectors")
    own.await_components({"collector"})
    nodes = [pod["spec"]["nodeName"] for pod in own.get("pods")]
    assert sorted(nodes) == ["node-1", "node-2", "node-3"]
    own.uninstall()
    own.await_objects(set())


def test_a_witness_is_a_release_of_its_own(cluster, namespace):
    """In another namespace, with its own key and volume; the logs of the cluster reach it."""
    own = Release(cluster, program.helm(), namespace("witness", enforce="restricted"), "w1")
    cluster.apply([closed()], own.namespace)
    own.install("witness", "witness.name=w1", "witness.logs[0]=tailrace/shop+1c2d3e4f+AQ==")
    own.await_components({"witness"})
    (pod,) = own.get("pods")
    log = {"app.kubernetes.io/name": "tailrace", "app.kubernetes.io/component": "transparency"}
    policies = own.get("networkpolicies")
    assert network.admits(policies, None, pod["metadata"]["labels"], WITNESS, labels=log)
    assert not network.admits(policies, None, pod["metadata"]["labels"], WITNESS)
    own.uninstall()
    own.await_objects({"NetworkPolicy/closed", "PersistentVolumeClaim/state-w1-witness-0"})


def test_a_container_without_its_means_would_be_refused(restricted):
    """The quota has teeth."""
    template = of_operators(restricted)["FlinkDeployment/tailrace-detect"]
    del template["spec"]["containers"][0]["resources"]
    said = answer_to_pod(restricted.cluster, restricted.namespace, template)
    assert "must specify limits.memory" in said


def test_each_file_that_a_pod_mounts_can_exist(restricted, documented_secrets):
    """Keys of secrets by helm/README.md, and ConfigMaps of the chart."""
    maps = {
        each["metadata"]["name"]: set(each["data"]) for each in restricted.get("configmaps") if "data" in each
    }
    for where, kind, name, keys in references(restricted):
        known = maps if kind == "configMap" else documented_secrets
        assert name in known, where
        assert keys <= known[name], where


@pytest.fixture(scope="module")
def documented_secrets() -> dict[str, set[str]]:
    """The keys of the secrets that the chart needs."""
    from docker.tests.conftest import DOCKER

    passwords = yaml.safe_load((DOCKER / "compose.yaml").read_text())["secrets"].keys()
    accounts = yaml.safe_load((DOCKER.parent / "schemas/kafka-accounts.yaml").read_text())["accounts"]
    return {
        "tailrace-passwords": {each for each in passwords if each.startswith(("clickhouse-", "superset-"))},
        "tailrace-evidence": {"evidence-ed25519.pem"},
        "tailrace-clickhouse-users": {"users.xml"},
        "tailrace-superset-stores": {"metadata-uri", "redis-url"},
        "tailrace-capture": {"servers.json", "explain.json"},
        "tailrace-alerts": {"alerts.yaml"},
        "tailrace-api-tls": {"tls.pem"},
        "tailrace-host-keys": {"pull.pem"},
        "tailrace-servers": {"shop-db-3.cnf"},
        "tailrace-transparency": {"transparency-ed25519.pem"},
        "tailrace-witness": {"witness-ed25519.pem"},
        "kafka-cluster-ca-cert": {"ca.crt"},
        **{f"tailrace-{account['name']}": {"password"} for account in accounts},
    }


def references(release: Release) -> list[tuple[str, str, str, set[str]]]:
    """Pod, `secret` or `configMap`, name, and the keys that a volume or a variable names."""
    pods = {f"Pod/{pod['metadata']['name']}": pod for pod in release.get("pods")} | of_operators(release)
    return [
        (where, *each)
        for where, pod in pods.items()
        for each in [*of_volumes(pod["spec"].get("volumes", [])), *of_variables(pod["spec"]["containers"])]
    ]


def of_volumes(volumes: list[dict]) -> list[tuple[str, str, set[str]]]:
    sources = [source for each in volumes for source in each.get("projected", {}).get("sources", [each])]
    return [
        (kind, source[kind].get("secretName") or source[kind]["name"], keys(source[kind]))
        for source in sources
        for kind in ("secret", "configMap")
        if kind in source and source[kind].get("name") != "kube-root-ca.crt"
    ]


def keys(source: dict) -> set[str]:
    return {item["key"] for item in source.get("items", [])}


def of_variables(containers: list[dict]) -> list[tuple[str, str, set[str]]]:
    given = [variable.get("valueFrom", {}) for each in containers for variable in each.get("env", [])]
    return [
        ("secret", each["secretKeyRef"]["name"], {each["secretKeyRef"]["key"]})
        for each in given
        if "secretKeyRef" in each
    ]
