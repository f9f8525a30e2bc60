"""Apache Flink's operator as a process, with the rights that its own chart gives it in one namespace."""

import socket
import subprocess
from pathlib import Path

from helm.cluster.control_plane import ControlPlane
from helm.tests.cluster import processes
from helm.tests.cluster.flink_pods import JOBS, rest_address

NAME = "flink-operator"
RULES = (
    ("", ("pods", "services", "events", "configmaps", "secrets")),
    ("apps", ("deployments", "deployments/finalizers", "replicasets")),
    ("networking.k8s.io", ("ingresses",)),
    (
        "flink.apache.org",
        tuple(
            f"{kind}{part}"
            for kind in ("flinkdeployments", "flinksessionjobs")
            for part in ("", "/status", "/finalizers")
        ),
    ),
)
"""The operator's chart allows every verb on these."""
OPTIONS = {
    "kubernetes.operator.reconcile.interval": "3 s",
    "kubernetes.operator.observer.progress-check.interval": "1 s",
    "kubernetes.operator.observer.rest-ready.delay": "1 s",
    "kubernetes.operator.dynamic.config.check.interval": "3 s",
    "kubernetes.operator.health.probe.enabled": "false",
}
"""Shorter intervals than the defaults."""


class FlinkOperator:
    """Watches one namespace, where it finds the REST services of the jobs of a release `tailrace`."""

    def __init__(self, cluster: ControlPlane, namespace: str, home: Path) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.home = home
        self.log = home / "operator.log"
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        self.cluster.apply(_account(self.namespace), self.namespace)
        processes.write_account(self.cluster, self.namespace, NAME, self.home / "kubeconfig")
        services = {rest_address(job): f"tailrace-{job}-rest.{self.namespace}" for job in JOBS}
        hosts = processes.hosts(self.home, {"127.0.0.1": f"localhost {socket.gethostname()}"} | services)
        plugins = self.home / "plugins"
        plugins.mkdir()
        self._write_options({})
        environment = {
            "KUBECONFIG": str(self.home / "kubeconfig"),
            # Tells it to use the services of jobs. The address of the API server is that of the kubeconfig.
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "OPERATOR_NAME": NAME,
            "OPERATOR_NAMESPACE": self.namespace,
            "FLINK_CONF_DIR": str(self.home),
            "FLINK_OPERATOR_CONF_DIR": str(self.home),
            "FLINK_PLUGINS_DIR": str(plugins),
        }
        libraries = processes.jars(processes.SOURCES / "operator")
        main_class = "org.apache.flink.kubernetes.operator.FlinkOperator"
        words = [main_class]
        self._process = processes.start(self.log, f"{libraries}/*", words, environment, "-Xmx256m", hosts)

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()

    def check(self) -> None:
        assert self._process and self._process.poll() is None, f"the operator has ended: see {self.log}"

    def configure(self, options: dict[str, str]) -> None:
        """Sets options besides OPTIONS, and waits until the running operator has read them."""
        read = "Setting default configuration to"
        before = self.messages(read)
        self._write_options(options)
        self.cluster.await_(lambda: self.messages(read) > before, f"the new configuration in {self.log}")

    def messages(self, text: str) -> int:
        """How many messages of the log contain a text."""
        return self.log.read_text().count(text)

    def _write_options(self, options: dict[str, str]) -> None:
        watched = {"kubernetes.operator.watched.namespaces": self.namespace}
        lines = [f"{key}: {value}\n" for key, value in (OPTIONS | watched | options).items()]
        (self.home / "flink-conf.yaml").write_text("".join(lines))


def _account(namespace: str) -> list[dict]:
    rules = [{"apiGroups": [group], "resources": list(names), "verbs": ["*"]} for group, names in RULES]
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME}},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {"name": NAME},
            "rules": rules,
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": NAME},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}],
        },
    ]
