"""A release from its installation to its end, and what is left of it, with both versions of Helm."""

import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from helm.cluster.release import CHART, Release, listed
from helm.tests.cluster.conftest import EVERYTHING, NOTHING
from tailrace.config.resources import REPOSITORY

pytestmark = pytest.mark.kubernetes

PREVIOUS = "bc4d751"
"""The commit of the previous release."""

STORES = (
    "superset.replicas=2",
    "superset.storesSecret=stores",
    "capture.enabled=true",
    "delivery.enabled=true",
)
"""Values that the previous release knows too."""

STEPS = ["migrations", "rules", "dashboards"]
SMALL = {"collector", "facts", "superset"}
MONITORED = SMALL | {"metrics"}
ALL = MONITORED | {"capture", "delivery", "api", "pull", "transparency", "witness"}
"""Components whose pods the chart makes itself; operators make the others."""


OF_SETS = {
    "PersistentVolumeClaim/log-tailrace-transparency-0",
    "PersistentVolumeClaim/state-tailrace-witness-0",
}
"""Volumes of the log and of its witness, after they were enabled once."""


def kept() -> set[str]:
    """What helm/README.md says that `helm uninstall` leaves: data, and the account of the jobs."""
    topics = yaml.safe_load((CHART / "files/topics.yaml").read_text())["topics"]
    of_account = {f"{kind}/tailrace-flink" for kind in ("ServiceAccount", "Role", "RoleBinding")}
    of_data = {f"KafkaTopic/{topic['name'].replace('_', '-')}" for topic in topics}
    return of_data | of_account | {"PersistentVolumeClaim/tailrace-superset"}


@pytest.fixture(scope="module")
def previous_chart(tmp_path_factory) -> Path:
    """The chart of the previous release."""
    target = tmp_path_factory.mktemp("previous")
    parts = ["helm/tailrace", "collectors/fluent-bit", "schemas", "embedded/tailrace/health/alerts.yaml"]
    command = ["git", "archive", "--output", target / "parts.tar", PREVIOUS, *parts]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"the history does not contain {PREVIOUS}, the previous release: {done.stderr.strip()}")
    with tarfile.open(target / "parts.tar") as parts_of_release:
        parts_of_release.extractall(target, filter="fully_trusted")
    return target / "helm/tailrace"


def ended_steps(release: Release) -> list[str]:
    """Jobs that succeeded, in the order of their end."""
    events = release.get("events", "--field-selector", "involvedObject.kind=Job,reason=Completed")
    ordered = sorted(events, key=lambda each: int(each["metadata"]["resourceVersion"]))
    return [each["involvedObject"]["name"].removeprefix(f"{release.name}-") for each in ordered]


def await_steps(release: Release, expected: list[str]) -> None:
    """Kubernetes writes an event a moment after its cause."""
    release.cluster.await_(lambda: ended_steps(release) == expected, f"the end of {expected}")
    assert release.get("jobs") == []


def generations(release: Release) -> dict[str, int]:
    """A number for each specification, which changes with it."""
    kinds = "deployments,daemonsets,flinkdeployments,clickhouseinstallations,networkpolicies"
    return {
        f"{each['kind']}/{each['metadata']['name']}": each["metadata"]["generation"]
        for each in release.get(kinds)
    }


def lasting(release: Release) -> set[str]:
    """Objects of the namespace except those that have a number in their names: pods, revisions, histories."""
    passing = {"Pod", "ReplicaSet", "ControllerRevision", "Secret", "EndpointSlice", "Endpoints"}
    return {each for each in release.objects() if each.partition("/")[0] not in passing}


def test_installed_upgraded_rolled_back_and_gone(release):
    elsewhere = {f"{each['kind']}/{each['name']}" for each in listed(release.cluster)}
    release.install("small")
    release.await_components(SMALL)
    await_steps(release, STEPS)
    installed = lasting(release)

    release.upgrade("standard")
    release.await_components(MONITORED)
    await_steps(release, STEPS * 2)
    before = generations(release)
    release.upgrade("standard")
    assert generations(release) == before, "the same values again must change nothing"

    release.rollback(1)
    release.await_components(SMALL)
    assert lasting(release) == installed
    release.uninstall()
    release.await_objects(kept())
    added = {f"{each['kind']}/{each['name']}" for each in listed(release.cluster)} - elsewhere
    assert {each for each in added if not each.startswith("PersistentVolume/")} == set()


def test_back_to_a_volume_from_stores_of_its_own(release):
    """The claim was applied as new over the one that was kept, and the strategy could not be changed."""
    release.install("small")
    release.upgrade("large", EVERYTHING)
    release.await_components(ALL)
    release.rollback(1)
    release.await_components(SMALL)
    release.uninstall()
    release.await_objects(kept() | OF_SETS)


def test_the_transparency_log_and_its_witness_keep_their_volumes(release):
    """Another history would be an incident."""
    release.install("small", EVERYTHING)
    release.await_components(ALL)
    before = volumes(release)
    release.upgrade("small")
    release.await_components(SMALL)
    release.upgrade("small", EVERYTHING)
    release.await_components(ALL)
    assert volumes(release) == before and len(before) == len(OF_SETS)
    release.uninstall()


def volumes(release: Release) -> dict[str, str]:
    """The ids of the claims of StatefulSets, by their names."""
    claims = release.get("persistentvolumeclaims")
    names = {each.partition("/")[2] for each in OF_SETS}
    return {
        each["metadata"]["name"]: each["metadata"]["uid"]
        for each in claims
        if each["metadata"]["name"] in names
    }


def test_installing_again_adopts_what_was_kept(release):
    release.install("small")
    (claim,) = release.get("persistentvolumeclaims")
    release.uninstall()
    release.await_objects(kept())
    release.install("standard", "jobs.normalize.initialSavepointPath=s3://tailrace/savepoint-1")
    release.await_components(MONITORED)
    (same,) = release.get("persistentvolumeclaims")
    assert same["metadata"]["uid"] == claim["metadata"]["uid"]
    paths = {
        each["metadata"]["name"]: each["spec"]["job"].get("initialSavepointPath")
        for each in release.get("flinkdeployments")
    }
    assert paths == {"tailrace-normalize": "s3://tailrace/savepoint-1", "tailrace-detect": None}


def test_with_everything_off_there_is_nothing(release):
    release.install("large", NOTHING)
    release.uninstall()
    release.await_objects(set())


def test_the_previous_release_is_upgraded_and_back(release, previous_chart):
    release.install("small", chart=previous_chart)
    release.upgrade("small")
    release.await_components(SMALL)
    release.upgrade("large", EVERYTHING)
    release.await_components(ALL)
    release.rollback(2)
    release.await_components(SMALL)
    release.rollback(1)
    release.await_components(SMALL)
    release.upgrade("small")
    release.uninstall()
    release.await_objects(kept() | OF_SETS)


def test_the_previous_release_could_not_go_back(release, previous_chart):
    """What the tests above would say of it."""
    release.install("small", chart=previous_chart)
    release.upgrade("large", *STORES, chart=previous_chart)
    said = release.refused_rollback(1)
    assert (
        "spec is immutable after creation" in said or "Forbidden: may not be specified when strategy" in said
    )
    assert release.components() >= {"capture", "delivery"}


def test_a_second_release_does_not_meet_the_first(release, namespace):
    """Of the same name, on the same nodes, with everything on."""
    second = Release(release.cluster, release.helm, namespace(f"{release.namespace}-b"), release.name)
    release.install("large", EVERYTHING)
    release.await_components(ALL)
    before = lasting(release), generations(release)
    second.install("large", EVERYTHING, "collector.stateDirectory=/var/lib/tailrace-b")
    second.await_components(ALL)

    assert (lasting(release), generations(release)) == before
    assert written_directories(release).isdisjoint(written_directories(second))
    second.uninstall()
    second.await_objects(kept() | OF_SETS)
    release.await_components(ALL)


def written_directories(release: Release) -> set[str]:
    """Directories of nodes into which a container of the release may write."""
    found = set()
    for pod in release.get("pods"):
        volumes = {
            each["name"]: each["hostPath"]["path"] for each in pod["spec"]["volumes"] if "hostPath" in each
        }
        for each in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
            found |= {
                volumes[m["name"]]
                for m in each["volumeMounts"]
                if m["name"] in volumes and not m.get("readOnly")
            }
    assert found
    return found
