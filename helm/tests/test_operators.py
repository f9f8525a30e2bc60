"""The operators' resources, decoded by the operators' own types, which refuse what they do not know.

Altinity publishes its types as a Go module, which the module proxy refused where this was made: its resources
are not decoded.
"""

import copy
import json
import re
import subprocess
from pathlib import Path

import pytest

from docker.tests.conftest import ToOutput
from helm.tests.conftest import EVERYTHING
from helm.tests.test_chart import PROFILES
from tailrace.config import content_hash
from tailrace.config.settings import Settings
from tailrace_local.supervisor import maven

pytestmark = pytest.mark.long  # Helm is built

SOURCES = Path(__file__).parent / "operators"
KINDS = ("FlinkDeployment", "KafkaTopic", "KafkaUser")
NEWEST_KNOWN = "v1_20"
"""Of Flink's versions, by the newest types that are published; operators from 1.14 on know v2_2."""


@pytest.fixture(scope="module")
def decode():
    """Decodes resources, and returns what the types complain of: a line for each resource."""
    pom = SOURCES / "pom.xml"
    entry = Settings.from_environment().cache / "operators" / content_hash.fingerprint(pom)
    if not entry.exists():
        maven.copy_dependencies(ToOutput(), pom, entry)
    command = ["java", "-cp", f"{entry}/*", SOURCES / "Decode.java"]

    def decoded(resources: list[dict]) -> list[str]:
        done = subprocess.run(command, input=json.dumps(resources), capture_output=True, text=True)
        complaints = [line for line in done.stdout.splitlines() if line.startswith(KINDS)]
        assert done.returncode == bool(complaints), done.stderr
        return complaints

    return decoded


def of_operators(resources: list[dict]) -> list[dict]:
    """Those whose types are published, with the newest version of Flink that the types know."""
    found = copy.deepcopy([each for each in resources if each["kind"] in KINDS])
    for each in found:
        if each["kind"] == "FlinkDeployment":
            assert each["spec"]["flinkVersion"] == "v2_2"
            each["spec"]["flinkVersion"] = NEWEST_KNOWN
    return found


def test_operators_types_know_every_field(render, decode):
    resources = [each for profile in PROFILES for each in of_operators(render(profile, *EVERYTHING))]
    assert {each["kind"] for each in resources} == set(KINDS)
    assert decode(resources) == []


def test_a_field_that_the_types_do_not_know_is_named(render, decode):
    """Wherever they would keep or ignore it by themselves."""
    resources = {each["kind"]: each for each in of_operators(render("", *EVERYTHING))}
    job, topic, user = (resources[kind]["spec"] for kind in KINDS)
    job["podTemplate"]["spec"]["securityContexts"] = {}
    topic["replicationFactor"] = 1
    user["authorization"]["acls"][0]["hostname"] = "*"
    other = copy.deepcopy(resources["FlinkDeployment"])
    del other["spec"]["podTemplate"]
    other["spec"]["jobManager"]["replica"] = 1

    complaints = decode([*resources.values(), other])

    unknown = [re.search(r'Unrecognized field "(\w+)"', each)[1] for each in complaints]
    assert sorted(unknown) == ["hostname", "replica", "replicationFactor", "securityContexts"]
