"""What `podman kube play` gets of a rendered workload."""

import copy
import os
from pathlib import Path

import pytest

from docker.tests.confinement import bytes_of, is_read_only, memory_limit
from docker.tests.pods import flink_pods, pod, probes
from docker.tests.workloads import Volumes
from tailrace.config.home import Home

WORKLOAD = {
    "kind": "Deployment",
    "metadata": {"name": "tailrace-facts"},
    "spec": {
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "securityContext": {"fsGroup": 10001, "runAsUser": 10001},
                "initContainers": [{"name": "first", "image": "tools"}],
                "containers": [
                    {
                        "name": "facts",
                        "image": "tools",
                        "securityContext": {"readOnlyRootFilesystem": True},
                        "env": [
                            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                            {"name": "ZONE", "value": "UTC"},
                        ],
                        "ports": [{"name": "metrics", "containerPort": 12020}],
                        "livenessProbe": {"httpGet": {"path": "/health", "port": "metrics"}},
                        "readinessProbe": {"exec": {"command": ["true"]}},
                        "volumeMounts": [{"name": "home", "mountPath": "/home"}],
                    }
                ],
                "volumes": [{"name": "home", "emptyDir": {}}],
            },
        }
    },
}


def test_containers_stay_as_they_are_rendered_but_for_what_the_kubelet_does():
    made = []

    def directory_of(volume, group) -> Path:
        made.append((volume, group))
        return Path("/made") / volume["name"]

    played = pod(WORKLOAD, directory_of, "node-1")

    assert made == [({"name": "home", "emptyDir": {}}, 10001)]
    spec = played["spec"]
    assert spec["volumes"] == [{"name": "home", "hostPath": {"path": "/made/home", "type": "Directory"}}]
    assert (spec["hostNetwork"], spec["hostname"], spec["restartPolicy"]) == (True, "localhost", "Never")
    assert spec["securityContext"] == {"fsGroup": 10001, "runAsUser": 10001, "supplementalGroups": [10001]}
    (container,) = spec["containers"]
    assert container["securityContext"] == {"readOnlyRootFilesystem": True}
    assert container["env"] == [{"name": "NODE", "value": "node-1"}, {"name": "ZONE", "value": "UTC"}]
    assert "livenessProbe" not in container and container["imagePullPolicy"] == "Never"
    assert "livenessProbe" in WORKLOAD["spec"]["template"]["spec"]["containers"][0]


def test_probes_know_the_number_of_a_named_port():
    ready, alive = probes(WORKLOAD)
    assert (ready.kind, ready.action) == ("readinessProbe", {"exec": {"command": ["true"]}})
    assert (alive.container, alive.kind, alive.port()) == ("facts", "livenessProbe", 12020)


def test_variables_in_arguments_and_in_other_variables_are_replaced():
    workload = copy.deepcopy(WORKLOAD)
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    container["env"].append({"name": "KEY", "value": "/keys/$(NODE).pem"})
    container["args"] = ["--key=$(KEY)", "--of=$(NOBODY)"]

    played = pod(workload, lambda volume, group: Path("/made"), "node-1")

    (container,) = played["spec"]["containers"]
    assert container["env"][-1] == {"name": "KEY", "value": "/keys/node-1.pem"}
    assert container["args"] == ["--key=/keys/node-1.pem", "--of=$(NOBODY)"]


def test_a_mount_of_one_file_is_a_volume_that_is_a_file():
    workload = copy.deepcopy(WORKLOAD)
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    file = {"name": "home", "mountPath": "/sql/a.yaml", "subPath": "a.yaml", "readOnly": True}
    container["volumeMounts"].append(file)

    played = pod(workload, lambda volume, group: Path("/made"), "node-1")

    (container,) = played["spec"]["containers"]
    assert container["volumeMounts"] == [
        {"name": "home", "mountPath": "/home"},
        {"name": "home-facts", "mountPath": "/sql/a.yaml", "readOnly": True},
    ]
    made = {each["name"]: each["hostPath"] for each in played["spec"]["volumes"]}
    assert made == {
        "home": {"path": "/made", "type": "Directory"},
        "home-facts": {"path": "/made/a.yaml", "type": "File"},
    }


JOB_FILE = {
    "path": "job.yaml",
    "fieldRef": {"fieldPath": "metadata.annotations['tailrace.io/job.yaml']"},
}
FLINK = {
    "kind": "FlinkDeployment",
    "metadata": {"name": "tailrace-detect"},
    "spec": {
        "image": "flink",
        "flinkConfiguration": {
            "high-availability.type": "kubernetes",
            "execution.checkpointing.dir": "s3://tailrace/detect",
            "taskmanager.numberOfTaskSlots": 2,
        },
        "podTemplate": {
            "metadata": {"annotations": {"tailrace.io/job.yaml": "parallelism: 2\n"}},
            "spec": {
                "securityContext": {"fsGroup": 9999, "runAsUser": 9999},
                "containers": [{"name": "flink-main-container", "volumeMounts": []}],
                "volumes": [{"name": "job", "downwardAPI": {"items": [JOB_FILE]}}],
            },
        },
        "jobManager": {"resource": {"cpu": 0.5, "memory": "1g"}},
        "taskManager": {"resource": {"cpu": 1, "memory": "1500m"}},
        "job": {
            "entryClass": "io.tailrace.Job",
            "args": ["--checkpoint.dir", "s3://tailrace/detect", "--config", "/etc/tailrace/job.yaml"],
            "parallelism": 2,
        },
    },
}


def test_a_job_has_the_sizes_the_options_and_the_arguments_of_its_deployment():
    manager, worker = flink_pods(FLINK, Path("/state"), lambda volume, group: Path("/made"), "node-1")

    (first,), (second,) = manager["spec"]["containers"], worker["spec"]["containers"]
    assert first["args"][:3] == ["standalone-job", "--job-classname", "io.tailrace.Job"]
    assert first["args"][-4:] == ["--checkpoint.dir", "file:///state", "--config", "/etc/tailrace/job.yaml"]
    assert "-Djobmanager.memory.process.size=1g" in first["args"]
    assert first["resources"] == {"limits": {"memory": "1Gi"}}
    assert second["args"][0] == "taskmanager"
    assert {"-Dtaskmanager.memory.process.size=1500m", "-Dtaskmanager.numberOfTaskSlots=2"} <= {
        *second["args"]
    }
    assert second["resources"] == {"limits": {"memory": "1500Mi"}}
    for container in (first, second):
        assert container["image"] == "flink"
        assert "-Drest.address=127.0.0.3" in container["args"]
        assert not any("s3://" in word or "high-availability" in word for word in container["args"])


def test_a_job_has_its_configuration_as_a_file(tmp_path):
    volumes = Volumes(tmp_path, {}, Home(tmp_path))

    flink_pods(FLINK, Path("/state"), volumes, "node-1")

    assert (tmp_path / "jobmanager/job/job.yaml").read_text() == "parallelism: 2\n"
    assert (tmp_path / "taskmanager/job/job.yaml").read_text() == "parallelism: 2\n"


def test_a_stateful_set_has_the_volumes_of_its_claims():
    workload = copy.deepcopy(WORKLOAD)
    workload["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "log"}, "spec": {}}]

    played = pod(workload, lambda volume, group: Path("/made") / volume["name"], "node-1")

    paths = [each["hostPath"]["path"] for each in played["spec"]["volumes"]]
    assert paths == ["/made/home", "/made/log"]


def test_a_projected_volume_has_the_files_of_its_secrets(tmp_path):
    sources = [
        {"secret": {"name": "key", "items": [{"key": "key.pem", "path": "key.pem"}]}},
        {"secret": {"name": "passwords", "items": [{"key": "one", "path": "one"}]}},
    ]
    volume = {"name": "secrets", "projected": {"defaultMode": 0o440, "sources": sources}}
    secrets = {"key": {"key.pem": "private"}, "passwords": {"one": "secret"}}

    made = Volumes(tmp_path, {}, Home(tmp_path), secrets)(volume, os.getgid())

    assert {file.name: file.read_text() for file in made.iterdir()} == {"key.pem": "private", "one": "secret"}
    assert {file.stat().st_mode & 0o777 for file in made.iterdir()} == {0o440}


def test_services_are_addresses_of_this_machine():
    workload = copy.deepcopy(WORKLOAD)
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    container["args"] = ["--job=detect=http://tailrace-detect-rest:8081", "http://tailrace-superset:8088"]

    played = pod(workload, lambda volume, group: Path("/made"), "node-1")

    (container,) = played["spec"]["containers"]
    assert container["args"] == ["--job=detect=http://127.0.0.3:8081", "http://127.0.0.1:8088"]


@pytest.mark.parametrize(("quantity", "expected"), [("64Mi", 64 * 2**20), ("2Gi", 2**31)])
def test_quantities_of_memory(quantity, expected):
    assert bytes_of(quantity) == expected


def test_no_limit_of_memory_is_an_error(tmp_path):
    (tmp_path / "cgroup").write_text("1:name=systemd:/a\n")
    with pytest.raises(AssertionError, match="nothing limits"):
        memory_limit(tmp_path)


@pytest.mark.parametrize(("options", "expected"), [("ro,relatime", True), ("rw,relatime", False)])
def test_a_root_file_system_is_read_only_by_its_mount(tmp_path, options, expected):
    (tmp_path / "mountinfo").write_text(
        f"1 2 0:1 / /proc rw - proc proc rw\n3 2 0:2 / / {options} - overlay\n"
    )
    assert is_read_only(tmp_path) is expected
