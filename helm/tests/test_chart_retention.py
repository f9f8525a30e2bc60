"""The retention of the chart, as the programs read it."""

import pytest
import yaml

from docker.tests.test_compose import job_defaults
from helm.tests.conftest import EVERYTHING, RELEASE
from helm.tests.test_chart import configuration, pods
from tailrace.config.resources import REPOSITORY
from tailrace.migrations.retention import RETENTION, load_retention, waiting_tables

pytestmark = pytest.mark.long  # Helm is built

POLICY = (
    "retention.policy.days.query_events=30",
    "retention.policy.days.unmasked_looks=36500",
    "retention.policy.wait_for_archive[0]=audit_events",
)
ARCHIVE = (
    *("archive.enabled=true", "archive.address=s3://bucket", "archive.image=archive:1"),
    *("clickhouse.servers[0]=http://one:8123", "collector.repair.enabled=true"),
)
READERS = {
    *("Job/tailrace-migrations", "CronJob/tailrace-retention", "Deployment/tailrace-superset"),
    *("CronJob/tailrace-archive-run", "CronJob/tailrace-archive-verify", "Deployment/tailrace-metrics"),
    *("Deployment/tailrace-api", "DaemonSet/tailrace-collector"),
}


def test_the_file_is_that_of_the_repository_with_the_changes(render, tmp_path):
    made = {(each["kind"], each["metadata"]["name"]): each for each in render("", *POLICY)}
    file = tmp_path / "retention.yaml"
    file.write_text(made["ConfigMap", f"{RELEASE}-retention"]["data"]["retention.yaml"])
    assert load_retention(file) == load_retention() | {"query_events": 30, "unmasked_looks": 36500}
    assert waiting_tables(["query_events"], file) == ("audit_events",)


def test_it_is_mounted_where_the_programs_of_each_image_look_for_it(render):
    below = RETENTION.relative_to(REPOSITORY)
    places = {"tools": f"/opt/tailrace/{below}", "superset": f"/app/tailrace/tailrace/resources/{below}"}
    readers = set()
    for owner, pod in pods(render("", *EVERYTHING, *POLICY, *ARCHIVE)).items():
        volumes = {each["name"]: each for each in pod["spec"].get("volumes", [])}
        for container in pod["spec"]["containers"]:
            for mount in container.get("volumeMounts", []):
                if mount["name"] == "retention":
                    image = "superset" if container["name"] == "superset" else "tools"
                    assert mount["mountPath"] == places[image], owner
                    assert volumes["retention"]["configMap"]["name"] == f"{RELEASE}-retention"
                    readers.add(owner)
    assert readers == READERS


def test_pods_that_run_all_the_time_are_replaced_after_a_change(render):
    def annotations(*values: str) -> dict[str, str]:
        made = pods(render("", *EVERYTHING, *ARCHIVE, *values))
        every = {owner: pod.get("metadata", {}).get("annotations", {}) for owner, pod in made.items()}
        key = "tailrace.io/retention"
        return {owner: texts[key] for owner, texts in every.items() if key in texts}

    one, other = annotations(), annotations(*POLICY)
    assert one.keys() == {owner for owner in READERS if not owner.partition("/")[0].endswith("Job")}
    assert not one.items() & other.items()


@pytest.mark.parametrize(
    ("values", "expected"),
    [((), "30"), (("jobs.normalize.config.retention\\.query-events\\.days=90",), "90")],
)
def test_the_normalize_job_has_the_same_days_unless_it_is_given_others(render, values, expected):
    made = {(each["kind"], each["metadata"]["name"]): each for each in render("", *POLICY, *values)}
    given = yaml.safe_load(configuration(made["FlinkDeployment", f"{RELEASE}-normalize"]["spec"]))
    found = {key: str(days) for key, days in given.items() if key.startswith("retention.")}
    defaults = job_defaults("normalize", "NormalizeJobOptions")
    wanted = {key: days for key, days in defaults.items() if key.startswith("retention.")}
    assert found == wanted | {"retention.query-events.days": expected}
    assert "retention." not in configuration(made["FlinkDeployment", f"{RELEASE}-detect"]["spec"])
