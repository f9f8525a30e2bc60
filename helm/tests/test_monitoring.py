"""What the Prometheus operator is given, decoded by its own types, and rules by Prometheus's own package."""

import copy
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from docker.tests.go_program import built
from helm.tests.conftest import EVERYTHING, RELEASE
from tailrace.health import rules

pytestmark = pytest.mark.long  # Helm is built

SOURCES = Path(__file__).parent / "monitoring"
KINDS = ("PodMonitor", "PrometheusRule")
OF_THE_CLUSTER = {"TailraceComponentDown", "TailraceComponentCrashes", "TailraceDisk"}
"""Alerts that use metrics of kube-state-metrics and the kubelet in place of those of the supervisor."""

Check = Callable[[list[dict]], list[str]]


@pytest.fixture(scope="module")
def check() -> Check:
    """What is wrong with resources, a line for each complaint. Building the program takes a CPU-minute."""
    program = built(SOURCES)

    def complaints(resources: list[dict]) -> list[str]:
        done = subprocess.run([program], input=json.dumps(resources), capture_output=True, text=True)
        assert done.returncode == bool(done.stdout), done.stderr
        return done.stdout.splitlines()

    return complaints


@pytest.fixture(scope="module")
def resources(render) -> list[dict]:
    return [each for each in render("", *EVERYTHING) if each["kind"] in KINDS]


def test_the_operator_knows_every_field_and_prometheus_every_rule(resources, check):
    assert {each["kind"] for each in resources} == set(KINDS)
    assert check(resources) == []


def test_alerts_are_those_of_one_machine_asked_of_this_release(resources):
    (given,) = (each["spec"] for each in resources if each["kind"] == "PrometheusRule")
    (group,) = given["groups"]
    here, there = ({rule["alert"]: rule for rule in rules} for rules in (group["rules"], of_one_machine()))
    assert here.keys() == there.keys()
    assert len(here) == len(group["rules"])
    for name, rule in there.items():
        if name not in OF_THE_CLUSTER:
            metric, comparison = rule["expr"].split(" ", maxsplit=1)
            expression = here[name]["expr"]
            assert re.sub(r"{[^{}]+}", "", expression) == f"{metric} {comparison}"
            assert expression.startswith(f'{metric}{{namespace="default",pod=~"{RELEASE}-(')
            assert {**here[name], "expr": ""} == {**rule, "expr": ""}


def test_pods_that_the_rules_watch_are_those_of_the_chart(render):
    """All long-running components: the pods of a new component must not be forgotten."""
    made = render("", *EVERYTHING)
    (rule,) = (each for each in made if each["kind"] == "PrometheusRule")
    watched = re.search(r'pod=~"([^"]+)"', rule["spec"]["groups"][0]["rules"][0]["expr"])[1]
    claims = re.search(r'persistentvolumeclaim=~"([^"]+)"', str(rule))[1]
    names = {each["metadata"]["name"]: each["kind"] for each in made}
    for name, kind in names.items():
        if kind in ("Deployment", "DaemonSet", "FlinkDeployment", "Job", "CronJob", "StatefulSet"):
            assert bool(re.fullmatch(watched, f"{name}-7d9f")) == (not kind.endswith("Job")), name
        if kind == "PersistentVolumeClaim":
            assert re.fullmatch(claims, name), name
    for each in (each for each in made if each["kind"] == "StatefulSet"):
        pod = f"{each['metadata']['name']}-0"
        assert re.fullmatch(watched, pod)
        for claim in each["spec"]["volumeClaimTemplates"]:
            assert re.fullmatch(claims, f"{claim['metadata']['name']}-{pod}"), pod
    # As Altinity's operator names them: installation, cluster, shard, replica.
    for kind in ("ClickHouseInstallation", "ClickHouseKeeperInstallation"):
        (resource,) = (each for each in made if each["kind"] == kind)
        (cluster,) = resource["spec"]["configuration"]["clusters"]
        prefix = "chi" if kind == "ClickHouseInstallation" else "chk"
        pod = f"{prefix}-{resource['metadata']['name']}-{cluster['name']}-0-0-0"
        template = resource["spec"]["defaults"]["templates"]["dataVolumeClaimTemplate"]
        assert re.fullmatch(watched, pod)
        assert re.fullmatch(claims, f"{template}-{pod}")


def test_alerts_fire_and_clear_for_this_release_alone(resources, tmp_path):
    """By promtool, Prometheus' own, with made-up series."""
    if not shutil.which("promtool"):
        pytest.skip("no promtool here: Debian's package prometheus")
    (given,) = (each["spec"] for each in resources if each["kind"] == "PrometheusRule")
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(given))
    tests = shutil.copy(SOURCES / "promtool.yaml", tmp_path)
    done = subprocess.run(["promtool", "test", "rules", tests], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def of_one_machine() -> list[dict]:
    (group,) = yaml.safe_load(rules.FILE.read_text())["groups"]
    return group["rules"]


@pytest.mark.parametrize(
    ("field", "wrong", "said"),
    [
        ("expr", "tailrace_lag_seconds >", "parse error"),
        ("annotations", {"summary": "{{ $labels.instance }"}, "annotation"),
        ("for", "1 minute", "duration"),
        ("severity", "critical", "severity"),
    ],
)
def test_what_prometheus_would_refuse_is_reported(resources, check, field, wrong, said):
    changed = copy.deepcopy(next(each for each in resources if each["kind"] == "PrometheusRule"))
    changed["spec"]["groups"][0]["rules"][0][field] = wrong
    assert said in " ".join(check([changed]))


def test_a_field_that_the_operator_does_not_know_is_reported(resources, check):
    changed = copy.deepcopy(next(each for each in resources if each["kind"] == "PodMonitor"))
    changed["spec"]["podMetricsEndpoints"][0]["honourLabels"] = True
    (complaint,) = check([changed])
    assert "honourLabels" in complaint
