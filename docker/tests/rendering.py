"""The chart's workloads, rendered for a stack on this machine."""

import subprocess
from pathlib import Path

import yaml

from docker.tests.built_images import collector_component
from docker.tests.pods import Resource
from e2e.stack import Stack
from helm import program
from tailrace.config.resources import REPOSITORY
from tailrace.programs.fluentbit import for_version_1

CHART = REPOSITORY / "helm/tailrace"
KUBERNETES = "1.34.0"
TIME_ZONE = "Europe/Berlin"
"""Of the logs that the tests write."""


def values(stack: Stack, directory: Path, images: dict[str, str]) -> Resource:
    """Returns values with the addresses of a stack and with images by their names in the chart.

    The collector reads `directory`/logs.
    """
    settings = stack.settings
    return {
        "kafka": {"bootstrap": f"127.0.0.1:{settings.port_kafka}", "strimzi": {"enabled": False}},
        "clickhouse": {
            "url": f"http://127.0.0.1:{settings.port_clickhouse}",
            "operator": {"enabled": False},
        },
        "images": images,
        "collector": {
            "directory": str(directory / "logs"),
            "stateDirectory": str(directory / "collector"),
            "timeZone": TIME_ZONE,
            "logs": {"slowlog": "slow.log", "audit": "server_audit.log", "errorlog": ""},
        },
        "api": {"enabled": True},
        "retention": {"policy": {"days": {"dead_letters": 9}}},
    }


def render(file: Path, given: Resource) -> dict[tuple[str, str], Resource]:
    """Returns what the chart renders with the profile small, by kind and name. `file` gets the values.

    The chart's files are for Fluent Bit 5. With version 1 they are changed as on one machine.
    Raises subprocess.CalledProcessError where Helm refuses them.
    """
    file.write_text(yaml.safe_dump(given))
    command = [program.helm(), "template", "tailrace", CHART, "--kube-version", KUBERNETES]
    done = subprocess.run(
        [*command, "--values", CHART / "profiles/small.yaml", "--values", file],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    listed = [each for each in yaml.safe_load_all(done.stdout) if each]
    rendered = {(each["kind"], each["metadata"]["name"]): each for each in listed}
    if collector_component().is_version_1():
        files = rendered["ConfigMap", "tailrace-collector"]["data"]
        files.update({name: for_version_1(text) for name, text in files.items()})
    return rendered
