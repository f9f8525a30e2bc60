"""What `podman kube play` gets of a rendered workload."""

from pathlib import Path

from docker.tests.pods import flink_pods, pod, probes

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
    assert (spec["hostNetwork"], spec["restartPolicy"]) == (True, "Never")
    assert spec["securityContext"] == {"fsGroup": 10001, "runAsUser": 10001}
    (container,) = spec["containers"]
    assert container["securityContext"] == {"readOnlyRootFilesystem": True}
    assert container["env"] == [{"name": "NODE", "value": "node-1"}, {"name": "ZONE", "value": "UTC"}]
    assert "livenessProbe" not in container and container["imagePullPolicy"] == "Never"
    assert "livenessProbe" in WORKLOAD["spec"]["template"]["spec"]["containers"][0]


def test_probes_know_the_number_of_a_named_port():
    ready, alive = probes(WORKLOAD)
    assert (ready.kind, ready.action) == ("readinessProbe", {"exec": {"command": ["true"]}})
    assert (alive.container, alive.kind, alive.port()) == ("facts", "livenessProbe", 12020)


def test_both_pods_of_a_flink_deployment_have_its_job_options_and_sizes_but_no_store_elsewhere():
    spec = {
        "image": "flink:1",
        "flinkConfiguration": {
            "high-availability.type": "kubernetes",
            "execution.checkpointing.savepoint-dir": "s3://bucket/savepoints",
            "taskmanager.numberOfTaskSlots": "1",
        },
        "job": {
            "entryClass": "io.tailrace.Job",
            "args": ["--checkpoint.dir", "s3://bucket/checkpoints", "--config", "/etc/job.yaml"],
            "parallelism": 1,
        },
        "jobManager": {"resource": {"memory": "1g"}},
        "taskManager": {"resource": {"memory": "1500m"}},
        "podTemplate": {
            "spec": {"containers": [{"name": "flink-main-container", "volumeMounts": []}], "volumes": []}
        },
    }
    deployment = {"metadata": {"name": "job"}, "spec": spec}

    leader, worker = flink_pods(deployment, Path("/checkpoints"), lambda volume, _: Path("/made"), "node-1")

    (first,), (second,) = leader["spec"]["containers"], worker["spec"]["containers"]
    assert first["args"][:3] == ["standalone-job", "--job-classname", "io.tailrace.Job"]
    assert first["args"][-4:] == ["--checkpoint.dir", "file:///checkpoints", "--config", "/etc/job.yaml"]
    assert "-Djobmanager.memory.process.size=1g" in first["args"]
    assert second["args"][0] == "taskmanager" and "-Dtaskmanager.numberOfTaskSlots=1" in second["args"]
    assert second["resources"] == {"limits": {"memory": "1500Mi"}}
    assert not [word for word in first["args"] + second["args"] if "s3://" in word or "high-avail" in word]
