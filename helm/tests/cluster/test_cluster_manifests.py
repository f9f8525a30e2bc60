"""Every manifest of the chart, as an API server judges it: schemas, unknown fields, rules in definitions."""

import pytest
import yaml

from helm import program
from helm.cluster import programs
from helm.cluster.release import Release
from helm.tests.cluster.conftest import ELSEWHERE, EVERYTHING, NOTHING

pytestmark = pytest.mark.kubernetes

SIZES = ("small", "standard", "large")


@pytest.fixture(scope="module")
def rendering(cluster, namespace) -> Release:
    return Release(cluster, program.helm(), namespace("manifests"))


def judged(release: Release, resources: list[dict]) -> str:
    """What kubectl says, a line for each resource."""
    words = [
        "apply",
        "--namespace",
        release.namespace,
        "--server-side",
        "--dry-run=server",
        "--validate=strict",
    ]
    given = yaml.dump_all(resources, Dumper=yaml.CSafeDumper)
    return release.cluster.kubectl(*words, "--filename", "-", given=given, check=False)


@pytest.mark.parametrize(
    "values", [(), (EVERYTHING,), (ELSEWHERE,)], ids=["plain", "everything", "elsewhere"]
)
@pytest.mark.parametrize("size", SIZES)
def test_the_server_accepts_every_manifest_of_every_size(rendering, size, values):
    resources = rendering.render(size, *values)
    lines = judged(rendering, resources).splitlines()
    assert [line for line in lines if not line.endswith("serverside-applied (server dry run)")] == []
    assert len(lines) == len(resources) >= 32


@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_left_of_any_size_with_everything_off(rendering, size):
    assert rendering.render(size, NOTHING) == []


def test_the_collectors_alone_are_accepted(rendering):
    resources = rendering.render("collectors")
    lines = judged(rendering, resources).splitlines()
    assert [line for line in lines if not line.endswith("serverside-applied (server dry run)")] == []
    kinds = {each["kind"] for each in resources}
    assert kinds == {"ConfigMap", "DaemonSet", "NetworkPolicy"}


def test_a_witness_alone_is_accepted(rendering):
    resources = rendering.render("witness", "witness.name=w1", "witness.logs[0]=tailrace/shop+1c2d3e4f+AQ==")
    lines = judged(rendering, resources).splitlines()
    assert [line for line in lines if not line.endswith("serverside-applied (server dry run)")] == []
    assert {each["kind"] for each in resources} == {"NetworkPolicy", "Service", "StatefulSet"}


def test_every_client_of_a_clickhouse_elsewhere_trusts_its_authority(rendering):
    """Each container with its address has the file, and each job the option."""
    resources = rendering.render("small", ELSEWHERE)
    address = "https://clickhouse.example:8443"
    clients = set()
    for resource in resources:
        spec = resource.get("spec", {})
        spec = spec["jobTemplate"]["spec"] if resource["kind"] == "CronJob" else spec
        template = spec.get("template") or spec.get("podTemplate")
        for container in (template or {}).get("spec", {}).get("containers", []):
            if address in str(container):
                clients.add(container["name"])
                assert {"name": "SSL_CERT_FILE", "value": "/run/clickhouse/ca.crt"} in container["env"]
                assert "/run/clickhouse" in str(container["volumeMounts"]), container["name"]
    expected = {"api", "callbacks", "delivery", "evidence", "explain", "facts", "metrics", "migrations"}
    assert clients == expected | {"repair", "retention", "superset", "transparency"}
    templates = [each["spec"]["podTemplate"] for each in resources if each["kind"] == "FlinkDeployment"]
    jobs = [each["metadata"]["annotations"]["tailrace.io/job.yaml"] for each in templates]
    assert [job.count("clickhouse.ca-file: /run/clickhouse/ca.crt") for job in jobs] == [1, 1]


def test_both_versions_of_helm_render_the_same(rendering):
    newer = Release(rendering.cluster, programs.helm4(), rendering.namespace)
    for values in (("small",), ("large", EVERYTHING)):
        assert newer.render(*values) == rendering.render(*values)


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("Deployment", {"replicaz": 1}, ".spec.replicaz: field not declared in schema"),
        ("FlinkDeployment", {"flinkVersion": "v9_9"}, 'Unsupported value: "v9_9"'),
        ("KafkaTopic", {"partitions": "many"}, "expected numeric"),
        ("NetworkPolicy", {"policyTypes": ["Outgress"]}, 'Unsupported value: "Outgress"'),
    ],
)
def test_what_the_server_does_not_know_is_refused(rendering, kind, change, said):
    resource = next(each for each in rendering.render("small") if each["kind"] == kind)
    resource["spec"] |= change
    assert said in judged(rendering, [resource])
