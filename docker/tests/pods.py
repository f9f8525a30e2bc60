"""Workloads of the chart as pods for `podman kube play`.

Containers stay as they are rendered: image, command, variables, security context, limits, mounts. What the
kubelet does and podman 4.3 does not is changed: volumes are directories that the caller has made, processes
are in the group `fsGroup`, `$(NAME)` in arguments and variables is replaced, a mount with `subPath` is one of
a file, the pod uses this machine's network, and the caller runs the probes, because podman leaves them to
systemd.
"""

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Resource = dict[str, Any]
SERVICES = {
    "tailrace-superset": "127.0.0.1",
    "tailrace-normalize-rest": "127.0.0.2",
    "tailrace-detect-rest": "127.0.0.3",
}
"""Services that workloads call, at their own ports. Two JobManagers use the same ports at two addresses."""
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
VARIABLE = re.compile(r"\$\((\w+)\)")


@dataclass(frozen=True)
class Probe:
    """A probe of a container, with the number of its port."""

    container: str
    kind: str
    action: Resource
    """With `exec`, `httpGet` or `tcpSocket`."""
    ports: dict[str, int]

    def port(self) -> int:
        """Returns the port of `httpGet` or `tcpSocket`, which is a number or a name of a container's port."""
        named = self.action.get("httpGet") or self.action["tcpSocket"]
        return self.ports[named["port"]] if isinstance(named["port"], str) else named["port"]


def template_of(workload: Resource) -> Resource:
    """Returns the pod template of a Job, Deployment, DaemonSet, StatefulSet or CronJob."""
    spec = workload["spec"]
    return spec["jobTemplate"]["spec"]["template"] if workload["kind"] == "CronJob" else spec["template"]


def pod(workload: Resource, directory_of: Callable[[Resource, int], Path], node: str) -> Resource:
    """Returns the pod of a workload with one replica.

    `directory_of` makes the directory of a volume for the group `fsGroup`, 0 without one. Containers get
    the name `node` for spec.nodeName.
    """
    template = copy.deepcopy(template_of(workload))
    spec = template["spec"]
    security = spec.get("securityContext", {})
    group = security.get("fsGroup", 0)
    if group:
        security["supplementalGroups"] = [*security.get("supplementalGroups", []), group]
    made = {
        volume["name"]: directory_of(volume, group)
        for volume in [*spec.get("volumes", []), *_claimed(workload)]
    }
    spec["volumes"] = [_host_path(name, path, "Directory") for name, path in made.items()]
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        container["imagePullPolicy"] = "Never"
        container.pop("ports", None)
        for probe in PROBES:
            container.pop(probe, None)
        variables = _variables(container, node)
        container["args"] = [_here(_expanded(word, variables)) for word in container.get("args", [])]
        spec["volumes"] += _files(container, made)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": workload["metadata"]["name"],
            "labels": template.get("metadata", {}).get("labels", {}),
        },
        "spec": {
            **spec,
            "hostNetwork": True,
            "hostname": "localhost",
            "restartPolicy": "Never",
        },
    }


def _host_path(name: str, path: Path, kind: str) -> Resource:
    return {"name": name, "hostPath": {"path": str(path), "type": kind}}


def _variables(container: Resource, node: str) -> dict[str, str]:
    """Sets the variables of a container that the kubelet finds out, and returns all that have a text."""
    known: dict[str, str] = {}
    for variable in container.get("env", []):
        if variable.get("valueFrom", {}).get("fieldRef"):
            variable.pop("valueFrom")
            variable["value"] = node
        if "value" in variable:
            known[variable["name"]] = variable["value"] = _expanded(variable["value"], known)
    return known


def _expanded(text: str, variables: dict[str, str]) -> str:
    """Replaces `$(NAME)` by the value of the variable, if there is one."""
    return VARIABLE.sub(lambda found: variables.get(found[1], found[0]), text)


def _files(container: Resource, made: dict[str, Path]) -> list[Resource]:
    """Makes mounts with `subPath` of a container mounts of volumes that are files, and returns these."""
    volumes = []
    for mount in container.get("volumeMounts", []):
        if "subPath" in mount:
            file = made[mount["name"]] / mount.pop("subPath")
            mount["name"] = f"{mount['name']}-{container['name']}"
            volumes.append(_host_path(mount["name"], file, "File"))
    return volumes


def _claimed(workload: Resource) -> list[Resource]:
    """Returns the volumes that Kubernetes adds to the pod of a StatefulSet, one for each claim."""
    return [
        {"name": claim["metadata"]["name"], "persistentVolumeClaim": {}}
        for claim in workload["spec"].get("volumeClaimTemplates", [])
    ]


def _here(word: str) -> str:
    """Names addresses in place of services: podman ignores hostAliases in the network of this machine."""
    for service, address in SERVICES.items():
        word = word.replace(f"//{service}:", f"//{address}:")
    return word


def probes(workload: Resource) -> list[Probe]:
    """Returns the probes of all containers of a workload."""
    return [
        Probe(
            container["name"],
            kind,
            container[kind],
            {port["name"]: port["containerPort"] for port in container.get("ports", []) if "name" in port},
        )
        for container in template_of(workload)["spec"]["containers"]
        for kind in PROBES
        if kind in container
    ]


def flink_pods(
    deployment: Resource, checkpoints: Path, directory_of: Callable[[Resource, int], Path], node: str
) -> tuple[Resource, Resource]:
    """Returns the pods of the JobManager and of a TaskManager of a FlinkDeployment.

    Like Flink's operator: template, image, configuration, sizes of memory, and job of the deployment. Unlike
    it: a standalone application without high availability, whose checkpoints are in a directory, not in S3.
    `directory_of` gets the role of the pod as `of`, and the annotations by their path as `fields`.
    """
    spec = deployment["spec"]
    name = deployment["metadata"]["name"]
    options = _flink_options(spec, SERVICES[f"{name}-rest"], checkpoints)
    job = [f"file://{checkpoints}" if "s3://" in word else word for word in spec["job"]["args"]]
    roles = {
        "jobmanager": ("standalone-job", ("--job-classname", spec["job"]["entryClass"]), job),
        "taskmanager": ("taskmanager", (), []),
    }
    made = []
    for role, (command, first, last) in roles.items():
        memory = spec["jobManager" if role == "jobmanager" else "taskManager"]["resource"]["memory"]
        sized = {**options, f"{role}.memory.process.size": memory}
        template = copy.deepcopy(spec["podTemplate"])
        (container,) = template["spec"]["containers"]
        container |= {
            "image": spec["image"],
            "args": [command, *first, *(f"-D{key}={value}" for key, value in sized.items()), *last],
            "resources": {"limits": {"memory": memory.replace("g", "Gi").replace("m", "Mi")}},
        }
        container["volumeMounts"].append({"name": "checkpoints", "mountPath": str(checkpoints)})
        template["spec"]["volumes"].append({"name": "checkpoints", "hostPath": {"path": str(checkpoints)}})
        workload = {
            "kind": "Deployment",
            "metadata": {"name": f"{name}-{role}"},
            "spec": {"template": template},
        }
        annotations = template.get("metadata", {}).get("annotations", {})
        fields = {f"metadata.annotations['{key}']": text for key, text in annotations.items()}
        more = {"of": role, "fields": fields}
        made.append(pod(workload, lambda volume, group, more=more: directory_of(volume | more, group), node))
    return made[0], made[1]


def _flink_options(spec: Resource, address: str, checkpoints: Path) -> dict[str, str]:
    """Returns the options of a standalone application at an address of this machine."""
    options = {
        key: str(value)
        for key, value in spec["flinkConfiguration"].items()
        if not key.startswith(("high-availability.", "kubernetes.", "env.")) and "s3://" not in str(value)
    }
    return options | {
        **dict.fromkeys(("jobmanager.rpc.address", "jobmanager.bind-host"), address),
        **dict.fromkeys(("rest.address", "rest.bind-address"), address),
        **dict.fromkeys(("taskmanager.host", "taskmanager.bind-host"), address),
        "execution.checkpointing.dir": f"file://{checkpoints}",
        "parallelism.default": str(spec["job"]["parallelism"]),
        # By default a process that needs ten seconds ends, and the kubelet starts it again. Podman does not.
        "pekko.startup-timeout": "120s",
    }
