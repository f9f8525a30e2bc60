"""The chart's collector has the files of collectors/, their settings and directories that it may write to."""

import re
import subprocess
from pathlib import Path

import pytest

from helm.tests.conftest import OPTIONAL, RELEASE
from tailrace.config.resources import REPOSITORY
from tailrace.deployment.__main__ import _parser
from tailrace.programs.fluentbit import COLLECTOR
from tailrace_signing import signer

pytestmark = pytest.mark.long  # Helm is built


def test_the_collector_has_the_files_of_the_collectors(everything):
    data = everything["ConfigMap", f"{RELEASE}-collector"]["data"]
    files = {path.name: path.read_text() for path in COLLECTOR.glob("*.conf")}
    assert data.keys() == files.keys() | {"capture-only.conf"}
    for name in files.keys() - {"tailrace.conf"}:
        assert data[name].strip() == files[name].strip()
    included = data["tailrace.conf"].split()[1::2]
    assert included == ["service.conf", "errorlog.conf", "slowlog.conf", "census.conf", "kafka.conf"]


def test_the_collector_gets_each_variable_of_its_files(everything):
    data = everything["ConfigMap", f"{RELEASE}-collector"]["data"]
    used = {
        each
        for name in data["tailrace.conf"].split()[1::2]
        for each in re.findall(r"\$\{(\w+)\}", data[name])
    }
    fluentbit, census = everything["DaemonSet", f"{RELEASE}-collector"]["spec"]["template"]["spec"][
        "containers"
    ]
    assert {each["name"] for each in fluentbit["env"]} >= used - OPTIONAL
    documented = set(
        re.findall(r"^(TAILRACE_\w+)=", (REPOSITORY / "collectors/collector.env").read_text(), re.MULTILINE)
    )
    assert {each["name"] for each in (*fluentbit["env"], *census["env"])} <= documented


def test_the_census_owns_the_directory_of_its_spool_and_of_the_state_of_its_signatures(everything):
    pod = everything["DaemonSet", f"{RELEASE}-collector"]["spec"]["template"]["spec"]
    made = {word for word in pod["initContainers"][0]["command"] if word.startswith("/")}
    for container in pod["containers"]:
        given = {each["name"]: each.get("value") for each in container["env"]}
        spool = Path(given["TAILRACE_CENSUS_SPOOL"])
        assert str(signer.state_file(spool).parent) in made
        assert str(spool.parent) in made
    # Root without DAC_OVERRIDE makes nothing in a directory that it has given to the collector's user.
    assert {Path(each).parent for each in made} == {Path("/var/lib/tailrace")}


def test_a_backfill_by_hand_has_the_list_and_the_account_of_repair(render):
    secured = ("kafka.security.protocol=sasl_ssl", "kafka.security.authoritySecret=kafka-ca")
    resources = render("", "collector.repair.enabled=true", *secured)
    made = {(each["kind"], each["metadata"]["name"]): each for each in resources}
    repair = made["DaemonSet", f"{RELEASE}-collector"]["spec"]["template"]["spec"]["containers"][-1]
    script = made["ConfigMap", f"{RELEASE}-repair"]["data"]["backfill"]
    told = script.replace("exec env", r"printf '%s\n'")
    done = subprocess.run(["sh", "-euc", told, "sh", "--dry-run"], capture_output=True, text=True, check=True)
    words = done.stdout.splitlines()
    given = _parser().parse_args(words[words.index("tailrace.deployment") + 1 :])
    assert given.words == ["backfill", "--dry-run"]
    of_repair = [word for word in repair["args"] if word.startswith(("--kafka", "--clickhouse"))]
    assert sorted(word for word in words if word.startswith(("--kafka", "--clickhouse"))) == sorted(of_repair)
    assert f"TAILRACE_SOURCES={repair['args'][1].removeprefix('--sources=')}" in words
