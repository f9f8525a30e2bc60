"""Which connections the release's policies leave in a namespace that denies all others."""

import itertools

import pytest

from helm.cluster import network
from helm.tests.cluster.test_cluster_life import ALL, STEPS

pytestmark = pytest.mark.kubernetes

OF_OPERATORS = ["normalize", "detect", "clickhouse", "keeper"]
CLICKHOUSE, KEEPER, SUPERSET, FLINK_REST = 8123, 2181, 8088, 8081
FLINK_RPC, RAFT, QUERIES, REPLICATION, WITNESS, OF_API = 6123, 9444, 9000, 9009, 18092, 18095
PORTS = (CLICKHOUSE, KEEPER, SUPERSET, FLINK_REST, FLINK_RPC, RAFT, QUERIES, REPLICATION, WITNESS, OF_API)
INSIDE = {
    *(
        (component, "clickhouse", CLICKHOUSE)
        for component in (
            *("api", "capture", "collector", "delivery", "facts", "metrics", "migrations", "superset"),
            *("transparency", "retention"),
        )
    ),
    ("transparency", "witness", WITNESS),
    *((job, "clickhouse", CLICKHOUSE) for job in ("normalize", "detect")),
    *(("metrics", job, FLINK_REST) for job in ("normalize", "detect")),
    ("dashboards", "superset", SUPERSET),
    ("clickhouse", "keeper", KEEPER),
    # Pods of one job reach each other at any port.
    *((job, job, port) for job in ("normalize", "detect") for port in PORTS),
    *(("clickhouse", "clickhouse", port) for port in (QUERIES, REPLICATION)),
    *(("keeper", "keeper", port) for port in (KEEPER, RAFT)),
}
"""Source, target, port: all that is allowed between pods of the release."""

DNS, KAFKA, HTTPS, API, MYSQL, POSTGRES, REDIS = 53, 9092, 443, 6443, 3306, 5432, 6379
OUTSIDE = {
    "capture": {KAFKA, MYSQL},
    "collector": {KAFKA},
    "normalize": {KAFKA, HTTPS, API},
    "detect": {KAFKA, HTTPS, API},
    "facts": {KAFKA},
    "pull": {KAFKA, HTTPS, MYSQL},
    "delivery": {HTTPS},
    "rules": {KAFKA},
    "superset": {KAFKA, POSTGRES, REDIS},
}
"""Ports of other namespaces and of other machines. Every component reaches the name service beside them."""


@pytest.fixture(scope="module")
def policies(restricted) -> list[dict]:
    return restricted.get("networkpolicies")


@pytest.fixture(scope="module")
def pods(restricted) -> dict[str, dict[str, str]]:
    """Labels by component; for pods of hooks and operators, which do not exist here, those of the chart."""
    common = {"app.kubernetes.io/name": "tailrace", "app.kubernetes.io/instance": restricted.name}
    key = "app.kubernetes.io/component"
    live = {pod["metadata"]["labels"][key]: pod["metadata"]["labels"] for pod in restricted.get("pods")}
    assert live.keys() == ALL - {"collector"}
    made = {name: {**common, key: name} for name in [*STEPS, *OF_OPERATORS, "collector", "retention"]}
    return made | live


def test_pods_of_the_release_reach_what_they_need_and_nothing_else(policies, pods):
    found = {
        (source, target, port)
        for source, target, port in itertools.product(pods, pods, PORTS)
        if network.admits(policies, pods[source], pods[target], port)
    }
    assert found == INSIDE


def test_pods_of_the_release_reach_ports_outside_as_configured(policies, pods):
    ports = (DNS, KAFKA, HTTPS, API, MYSQL, POSTGRES, REDIS)
    for component, labels in pods.items():
        reached = {port for port in ports if network.admits(policies, labels, None, port)}
        assert reached == {DNS} | OUTSIDE.get(component, set()), component


def test_nobody_outside_reaches_a_pod_of_the_release(policies, pods):
    ports = (*PORTS, DNS)
    for component, labels in pods.items():
        assert [port for port in ports if network.admits(policies, None, labels, port)] == [], component


OPERATORS = {
    "altinity-clickhouse-operator": {("clickhouse", CLICKHOUSE), ("keeper", KEEPER)},
    "flink-kubernetes-operator": {("normalize", FLINK_REST), ("detect", FLINK_REST)},
}
"""What an operator reaches, by the label of its chart."""


def test_an_operator_reaches_its_pods_from_the_namespace_of_the_release_only(policies, pods):
    for name, expected in OPERATORS.items():
        labels = {"app.kubernetes.io/name": name}
        inside = {
            (target, port)
            for target, port in itertools.product(pods, PORTS)
            if network.admits(policies_of_pods(policies), labels, pods[target], port)
        }
        outside = {
            (target, port)
            for target, port in itertools.product(pods, PORTS)
            if network.admits(policies, None, pods[target], port, labels)
        }
        assert (inside, outside) == (expected, set())


def test_the_ingress_controller_reaches_its_services_from_its_namespace_only(policies, pods):
    def reached(labels: dict[str, str], namespace: str) -> set[tuple[str, int]]:
        return {
            (target, port)
            for target, port in itertools.product(pods, PORTS)
            if network.admits(policies, None, pods[target], port, labels, namespace)
        }

    controller = {"app": "controller"}
    assert reached(controller, "ingress") == {("superset", SUPERSET), ("api", OF_API)}
    assert reached(controller, "elsewhere") == reached({"app": "other"}, "ingress") == set()


def policies_of_pods(policies):
    """Without the denial of the namespace, which also limits the operator."""
    return [each for each in policies if each["metadata"]["name"] != "closed"]


def test_without_the_policies_of_the_release_nothing_connects(policies, pods):
    """The namespace denies everything: the tests above do not pass by default."""
    (denial,) = (each for each in policies if each["metadata"]["name"] == "closed")
    for source, target, port in INSIDE:
        assert not network.admits([denial], pods[source], pods[target], port)
