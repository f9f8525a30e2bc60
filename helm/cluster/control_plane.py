"""A Kubernetes control plane on loopback: etcd, API server, controllers, scheduler, and simulated nodes.

No container runs: kwok only reports that pods run. Everything before the kubelet is real: admission,
validation, authorization, quotas, controllers, garbage collection, scheduling.
"""

import base64
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from ssl import SSLEOFError, create_default_context
from typing import Any

import yaml

from helm.cluster import programs
from tailrace_local.supervisor import launch

LIMIT_SECONDS = 300.0
"""For conditions that take seconds on an idle machine."""
RETRY_SECONDS = 1.0
"""As the API server asks for with the status 429."""
GRACE_SECONDS = 30.0
NODES = 3


class ControlPlane:
    """Uses six ports from `port` on, and a directory `home` that does not exist.

    A context manager. Its processes end with the block, and with this process if that is killed.
    """

    def __init__(self, home: Path, port: int) -> None:
        self.home = home
        self.port = port
        self.kubeconfig = home / "kubeconfig"
        self.token = secrets.token_hex(16)
        self._running: dict[str, subprocess.Popen] = {}
        self._connection: HTTPSConnection | None = None

    def __enter__(self) -> "ControlPlane":
        self.home.mkdir(parents=True)
        try:
            self._start_storage()
            self._start_server()
            self._start_controllers()
            self._start_nodes()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._running.values()):
            process.terminate()
            try:
                process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def kubectl(self, *words: str | Path, given: str | None = None, check: bool = True) -> str:
        """Returns what kubectl prints, given an input. Raises AssertionError if it fails."""
        done = self.run([programs.kubernetes() / "kubectl", *words], given=given)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout if check else done.stdout + done.stderr

    def run(self, command: list[str | Path], given: str | None = None) -> subprocess.CompletedProcess[str]:
        """A client of this control plane as its administrator, with the output as text."""
        environment = {
            **os.environ,
            "KUBECONFIG": str(self.kubeconfig),
            "HELM_CACHE_HOME": str(self.home / "helm"),
        }
        return subprocess.run(command, input=given, capture_output=True, text=True, env=environment)

    def get(self, path: str) -> Any:
        """The JSON at a path of the API server. Raises AssertionError with its answer if there is none."""
        deadline = time.monotonic() + LIMIT_SECONDS
        status, text = self.ask(path)
        while status == HTTPStatus.TOO_MANY_REQUESTS and time.monotonic() < deadline:
            time.sleep(RETRY_SECONDS)  # "storage is (re)initializing", for a definition that is new
            status, text = self.ask(path)
        assert status == HTTPStatus.OK, text
        return json.loads(text)

    def ask(self, path: str, resource: dict | None = None) -> tuple[int, str]:
        """Sends a resource to a path of the API server, or reads there. Returns the status and the answer.

        Raises OSError or HTTPException if the server does not answer."""
        is_kept = self._connection is not None
        try:
            return self._ask(path, resource)
        except (ConnectionError, SSLEOFError):
            if not is_kept:
                raise
        return self._ask(path, resource)  # the server had closed a connection that was idle for minutes

    def _ask(self, path: str, resource: dict | None) -> tuple[int, str]:
        if self._connection is None:
            certificates = create_default_context(cafile=str(self.home / "certificates/apiserver.crt"))
            self._connection = HTTPSConnection(
                "127.0.0.1", self.port, timeout=LIMIT_SECONDS, context=certificates
            )
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        body = None if resource is None else json.dumps(resource)
        try:
            self._connection.request("POST" if body else "GET", path, body, headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, HTTPException):
            self._connection.close()
            self._connection = None
            raise

    def exists(self, path: str) -> bool:
        """Whether the API server has something at a path; it may not answer yet."""
        try:
            return self.ask(path)[0] == HTTPStatus.OK
        except (OSError, HTTPException):
            return False

    def apply(self, resources: list[dict], namespace: str = "default") -> None:
        self.kubectl(
            *("apply", "--server-side", "--namespace", namespace, "--filename", "-"),
            given=yaml.dump_all(resources, Dumper=yaml.CSafeDumper),
        )

    def _start_storage(self) -> None:
        client, peer = (f"http://127.0.0.1:{self.port + offset}" for offset in (1, 2))
        self._start(
            "etcd",
            [
                *(programs.etcd(), "--data-dir", self.home / "etcd", "--name", "one", "--unsafe-no-fsync"),
                *("--log-level", "warn", "--initial-cluster", f"one={peer}"),
                *("--listen-client-urls", client, "--advertise-client-urls", client),
                *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
            ],
        )

    def _start_server(self) -> None:
        key = self.home / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        tokens = self.home / "tokens.csv"
        tokens.write_text(f"{self.token},admin,admin,system:masters\n")
        tokens.chmod(0o600)
        self._start(
            "kube-apiserver",
            [
                *(
                    programs.kubernetes() / "kube-apiserver",
                    "--etcd-servers",
                    f"http://127.0.0.1:{self.port + 1}",
                ),
                *(
                    "--bind-address",
                    "127.0.0.1",
                    "--advertise-address",
                    "127.0.0.1",
                    "--secure-port",
                    self.port,
                ),
                *("--cert-dir", self.home / "certificates"),  # it makes its own
                # It would write 127.0.0.1 into the Endpoints of `kubernetes`, and refuse it.
                *("--endpoint-reconciler-type", "none", "--service-cluster-ip-range", "10.96.0.0/16"),
                *("--authorization-mode", "RBAC", "--token-auth-file", tokens, "--anonymous-auth=false"),
                # Off by default. With it, who creates a pod with an owner needs a right on the owner.
                *("--enable-admission-plugins", "OwnerReferencesPermissionEnforcement"),
                *("--service-account-issuer", "https://kubernetes.default.svc"),
                *("--service-account-key-file", key, "--service-account-signing-key-file", key),
                *("--audit-policy-file", self._audit_policy(), "--audit-log-path", self.home / "audit.log"),
            ],
        )
        self.await_(self._certificate_exists, "the API server's certificate")
        self._write_kubeconfig()
        self.await_(lambda: self.exists("/readyz"), "the API server")

    def _certificate_exists(self) -> bool:
        certificate = self.home / "certificates/apiserver.crt"
        return certificate.exists() and certificate.read_text().rstrip().endswith("-----END CERTIFICATE-----")

    def _audit_policy(self) -> Path:
        """Every request of a service account outside kube-system, and no other request."""
        of_accounts = {
            "level": "Metadata",
            "userGroups": ["system:serviceaccounts"],
            "omitStages": ["RequestReceived"],
        }
        of_controllers = {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"]}
        policy = self.home / "audit.yaml"
        rules = [of_controllers, of_accounts, {"level": "None"}]
        policy.write_text(yaml.safe_dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules}))
        return policy

    def _write_kubeconfig(self) -> None:
        self.kubeconfig.write_text(yaml.safe_dump(self.configuration({"token": self.token})))
        self.kubeconfig.chmod(0o600)

    def configuration(self, user: dict, namespace: str = "default") -> dict:
        """A kubeconfig of a user."""
        authority = base64.b64encode((self.home / "certificates/apiserver.crt").read_bytes()).decode()
        cluster = {"server": f"https://127.0.0.1:{self.port}", "certificate-authority-data": authority}
        context = {"cluster": "local", "user": "local", "namespace": namespace}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "local",
            "clusters": [{"name": "local", "cluster": cluster}],
            "users": [{"name": "local", "user": user}],
            "contexts": [{"name": "local", "context": context}],
        }

    def _start_controllers(self) -> None:
        common = ["--kubeconfig", self.kubeconfig, "--bind-address", "127.0.0.1", "--leader-elect=false"]
        common += ["--cert-dir", self.home / "certificates", "--authentication-skip-lookup"]
        common += [
            "--authentication-kubeconfig",
            self.kubeconfig,
            "--authorization-kubeconfig",
            self.kubeconfig,
        ]
        self._start(
            "kube-controller-manager",
            [
                *(programs.kubernetes() / "kube-controller-manager", *common, "--secure-port", self.port + 3),
                *("--service-account-private-key-file", self.home / "accounts.key"),
                *("--root-ca-file", self.home / "certificates/apiserver.crt"),
                *("--use-service-account-credentials", "--enable-hostpath-provisioner"),
            ],
        )
        self._start(
            "kube-scheduler",
            [programs.kubernetes() / "kube-scheduler", *common, "--secure-port", self.port + 4],
        )

    def _start_nodes(self) -> None:
        stages = self.home / "stages.yaml"
        stages.write_text(programs.kwok_stages())
        self._start(
            "kwok",
            [
                *(
                    programs.kwok(),
                    "--config",
                    stages,
                    "--kubeconfig",
                    self.kubeconfig,
                    "--manage-all-nodes=true",
                ),
                # Without leases a node is lost after 50 s.
                *("--node-lease-duration-seconds", "40", "--server-address", f"127.0.0.1:{self.port + 5}"),
            ],
        )
        self.apply([*(_node(number) for number in range(1, NODES + 1)), _storage_class()])
        self.kubectl("wait", "--for=condition=Ready", "nodes", "--all", f"--timeout={LIMIT_SECONDS:.0f}s")
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        self.await_(lambda: self.exists(account), "the service account of a namespace")

    def _start(self, name: str, command: list) -> None:
        start = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid())]
        with open(self.home / f"{name}.log", "w") as log:
            self._running[name] = subprocess.Popen(
                [*start, *(str(word) for word in command)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.home,
                process_group=0,  # an interrupt at the terminal is for us, who end it in order
            )

    def await_(self, condition: Callable[[], bool], what: str, seconds: float = LIMIT_SECONDS) -> None:
        """Raises AssertionError if it takes too long, or if one of our processes has ended."""
        within_limit = self.within_limit(seconds)
        while not condition():
            assert within_limit(), f"{what} is awaited for {seconds:.0f} s: see {self.home}"

    def within_limit(self, seconds: float = LIMIT_SECONDS) -> Callable[[], bool]:
        """Returns a function that pauses, and returns whether there is time left since now.

        That function raises AssertionError if one of our processes has ended."""
        until = time.monotonic() + seconds

        def pause() -> bool:
            for name, process in self._running.items():
                assert process.poll() is None, f"{name} has ended: see {self.home / name}.log"
            time.sleep(0.2)
            return time.monotonic() < until

        return pause


def _node(number: int) -> dict:
    room = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": f"node-{number}", "kubernetes.io/os": "linux"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"node-{number}",
            "labels": {**labels, "topology.kubernetes.io/zone": f"zone-{number}"},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "status": {"capacity": room, "allocatable": room},
    }


def _storage_class() -> dict:
    """Claims are bound at once; the controller manager makes directories for them."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": "standard",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "kubernetes.io/host-path",
    }
