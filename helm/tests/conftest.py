"""The chart as Helm renders it."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from docker.tests.install_limit import allow_installation
from helm import program
from tailrace.config import content_hash
from tailrace.config.settings import Settings
from tailrace_local.supervisor import cache

CHART = Path(__file__).parents[1] / "tailrace"
UNITTEST = "github.com/helm-unittest/helm-unittest@v1.1.2"
KUBERNETES = "1.34.0"
RELEASE = "tailrace"
EVERYTHING = (
    "serviceMonitors=true",
    "delivery.enabled=true",
    "callbacks.enabled=true",
    "forwarding.enabled=true",
    "pull.enabled=true",
    "capture.enabled=true",
    "kafka.strimzi.users=true",
    "clickhouse.operator.replicas=2",
    "clickhouse.operator.shards=2",
    "capture.explain=true",
    "superset.replicas=2",
    "superset.storesSecret=tailrace-stores",
    "access.developer.clusters[0]=shop",
    "api.enabled=true",
    "api.replicas=2",
    "transparency.enabled=true",
    "transparency.origin=tailrace/shop",
    f"transparency.witnesses[0].url=http://{RELEASE}-witness:18092",
    "transparency.witnesses[0].key=w1+1c2d3e4f+BA==",
    "witness.enabled=true",
    "witness.name=w1",
    "witness.logs[0]=tailrace/shop+1c2d3e4f+AQ==",
    "pseudonyms.enabled=true",
    "superset.ingress.enabled=true",
    "superset.ingress.host=tailrace.example.com",
    "retention.policy.days.query_events=30",
)

OPTIONAL = {
    f"TAILRACE_KAFKA_{name}"
    for name in ("SASL_USERNAME", "SASL_PASSWORD", "CA_FILE", "CERTIFICATE_FILE", "KEY_FILE", "KEY_PASSWORD")
}
"""Variables of kafka.conf that leave librdkafka's default where they are not set."""

Resource = dict[str, Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    allow_installation(items, Path(__file__).parent)


@pytest.fixture(scope="session")
def helm() -> Path:
    return program.helm()


@pytest.fixture(scope="session")
def unittest() -> Path:
    """helm-unittest from its Go module, built once, in two CPU-minutes.

    Its go.mod replaces a module, which `go install` refuses to honour: it is built where the module lies."""
    entry = Settings.from_environment().cache / "helm-unittest" / content_hash.fingerprint(UNITTEST)
    if not entry.exists():
        with cache.build(entry) as draft:
            download = ["go", "mod", "download", "-json", UNITTEST]
            downloaded = subprocess.run(download, cwd=draft, check=True, capture_output=True, text=True)
            module = json.loads(downloaded.stdout)["Dir"]
            program = draft / "helm-unittest"
            build = ["go", "build", "-C", module, "-trimpath", "-o", program, "./cmd/helm-unittest"]
            subprocess.run(build, check=True)
    return entry / "helm-unittest"


@pytest.fixture(scope="session")
def render(helm: Path) -> Callable[..., list[Resource]]:
    """The resources of the chart with a profile and further values, `key=value` as for --set."""

    def template(profile: str = "", *values: str) -> list[Resource]:
        done = subprocess.run(
            [helm, "template", RELEASE, CHART, "--kube-version", KUBERNETES, *options(profile, *values)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return [resource for resource in yaml.safe_load_all(done.stdout) if resource]

    return template


def options(profile: str, *values: str) -> list[str]:
    """Of Helm's command line."""
    chosen = ["--values", str(CHART / "profiles" / f"{profile}.yaml")] if profile else []
    return [*chosen, *(word for value in values for word in ("--set", value))]


@pytest.fixture(scope="session")
def everything(render: Callable[..., list[Resource]]) -> dict[tuple[str, str], Resource]:
    """Every resource that the chart can make, by kind and name."""
    return {(each["kind"], each["metadata"]["name"]): each for each in render("", *EVERYTHING)}
