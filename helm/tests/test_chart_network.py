"""Which pods of operators the rendered NetworkPolicies admit."""

import pytest

from helm.cluster import network
from helm.tests.conftest import EVERYTHING, RELEASE

pytestmark = pytest.mark.long  # Helm is built

REST, HTTP, NATIVE, KEEPER_CLIENT = 8081, 8123, 9000, 2181
OPERATORS = (
    ({"app.kubernetes.io/name": "flink-kubernetes-operator"}, {("normalize", REST), ("detect", REST)}),
    (
        {"app.kubernetes.io/name": "altinity-clickhouse-operator"},
        {("clickhouse", HTTP), ("keeper", KEEPER_CLIENT)},
    ),
    ({"app": "clickhouse-operator"}, {("clickhouse", HTTP), ("keeper", KEEPER_CLIENT)}),
)
"""Labels of operators' pods, and what they reach."""


@pytest.mark.parametrize(("labels", "expected"), OPERATORS)
def test_operators_reach_their_pods_from_their_namespace_only(render, labels, expected):
    """Flink's REST API has no authentication, and a pod's label is no proof of its identity."""
    namespaces = ("operators.flink.namespace=operators", "operators.clickhouse.namespace=operators")
    here, there = (
        [each for each in render("", *EVERYTHING, *values) if each["kind"] == "NetworkPolicy"]
        for values in ((), namespaces)
    )

    def reached(policies: list[dict], source: dict[str, str] | None, namespace: str) -> set[tuple[str, int]]:
        common = {"app.kubernetes.io/name": "tailrace", "app.kubernetes.io/instance": RELEASE}
        return {
            (component, port)
            for component in ("normalize", "detect", "clickhouse", "keeper")
            for port in (REST, HTTP, NATIVE, KEEPER_CLIENT)
            if network.admits(
                policies,
                source,
                {**common, "app.kubernetes.io/component": component},
                port,
                labels,
                namespace,
            )
        }

    assert reached(here, labels, "") == reached(there, None, "operators") == expected
    assert reached(here, None, "other") == reached(there, None, "other") == set()
