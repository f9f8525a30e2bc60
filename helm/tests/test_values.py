"""What can be said of the chart without Helm: values, profiles and files."""

import dataclasses
import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from docker.tests.test_compose import job_defaults
from helm.tests.conftest import CHART
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import Settings

SCHEMA = json.loads((CHART / "values.schema.json").read_text())
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
PROFILES = {path.stem: yaml.safe_load(path.read_text()) for path in (CHART / "profiles").glob("*.yaml")}


def merged(below: dict, above: dict) -> dict:
    """As Helm lays values over others."""
    both = {
        key: merged(below[key], above[key])
        for key in below.keys() & above.keys()
        if isinstance(below[key], dict) and isinstance(above[key], dict)
    }
    return {**below, **above, **both}


NAMED = {"witness": {"name": "w1", "logs": ["tailrace/shop+1c2d3e4f+AQ=="]}}
"""What the profile witness lacks, because every witness has its own."""


def test_there_are_three_sizes_and_two_parts_alone():
    assert PROFILES.keys() == {"small", "standard", "large", "collectors", "witness"}


@pytest.mark.parametrize("profile", ["", *PROFILES])
def test_values_fit_the_schema(profile):
    jsonschema.validate(merged(merged(VALUES, PROFILES.get(profile, {})), NAMED), SCHEMA)


@pytest.mark.parametrize("profile", PROFILES)
def test_inserts_go_on_while_one_replica_of_a_shard_is_down(profile):
    """They need a majority: of two replicas, both."""
    replicas = merged(VALUES, PROFILES[profile])["clickhouse"]["operator"]["replicas"]
    assert replicas == 1 or replicas // 2 + 1 <= replicas - 1


def test_the_schema_knows_every_value_and_no_other():
    def keys(value: object, where: str = "") -> set[str]:
        if not isinstance(value, dict) or not value:
            return {where}
        return {each for key, below in value.items() for each in keys(below, f"{where}.{key}")}

    free = (
        "resources",
        "serviceAccountAnnotations",
        ".config.",
        "partitions",
        "Process",
        "jobManager",
        "taskManager",
        "nodeSelector",
        "transparency.witnesses",
    )
    written = {key for key in keys(VALUES) if not any(part in key for part in free)}
    assert written == {key for key in described(SCHEMA) if not any(part in key for part in free)} - {
        ".global"
    }


def described(schema: dict, where: str = "") -> set[str]:
    """Every place that the schema describes."""
    if "$ref" in schema:
        return described(SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]], where)
    properties = schema.get("properties", {})
    if not properties:
        return {where}
    return {each for key, below in properties.items() for each in described(below, f"{where}.{key}")}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"colector": {}}, "colector"),
        ({"collector": {"logs": {"binlog": "x"}}}, "binlog"),
        ({"images": {"flink": "tailrace/flink:latest"}}, "latest"),
        ({"images": {"flink": "tailrace/flink"}}, "tailrace/flink"),
        ({"jobs": {"normalize": {"config": {"parallelism": 2, "restore.path": "s3://x"}}}}, "restore.path"),
        ({"jobs": {"detect": {"config": {"parallelism": 0}}}}, "0"),
        ({"passwordsSecret": ""}, "''"),
        ({"clickhouse": {"operator": {"keeperReplicas": 2}}}, "2"),
        ({"superset": {"replicas": 2}}, "''"),
        (
            {"superset": {"replicas": 2, "storesSecret": "s", "evidence": {"enabled": True}}},
            "False was expected",
        ),
        ({"superset": {"evidence": {"storage": "2G"}}}, "2G"),
        ({"access": {"developer": {"cluster": ["shop"]}}}, "cluster"),
        ({"witness": {"enabled": True, "name": "w1"}}, "[]"),
        ({"transparency": {"enabled": True}}, "''"),
        ({"archive": {"enabled": True, "address": "s3://bucket"}}, "''"),
        ({"archive": {"address": "/mnt/archive"}}, "/mnt/archive"),
        ({"retention": {"schedule": "daily"}}, "daily"),
        ({"retention": {"policy": {"dayz": {}}}}, "dayz"),
        ({"retention": {"policy": {"days": {"query_events": 0}}}}, "0 is less"),
        ({"retention": {"policy": {"wait_for_archive": "all"}}}, "all"),
        ({"api": {"ingress": {"enabled": True}}}, "''"),
        ({"pseudonyms": {"enabled": True, "keySecret": ""}}, "''"),
        ({"transparency": {"witnesses": [{"url": "http://w:1", "key": "secret"}]}}, "secret"),
        ({"clickhouse": {"authority": {"secretName": "a", "configMapName": "b"}}}, "should not be valid"),
        ({"pull": {"logs": [{"instance": "a", "source": "slowlog", "kind": "table"}]}}, "defaults_file"),
        ({"pull": {"logs": [{"instance": "a", "source": "slowlog", "kind": "rds"}]}}, "region"),
        (
            {
                "pull": {
                    "logs": [{"instance": "a", "source": "slowlog", "kind": "otlp", "url": "kafka://k/t"}]
                }
            },
            "match",
        ),
        (
            {
                "pull": {
                    "logs": [
                        {"instance": "a", "source": "performance_schema", "kind": "rds", "region": "eu-1"}
                    ]
                }
            },
            "'otlp' was expected",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(wrong, said):
    with pytest.raises(jsonschema.ValidationError, match=re.escape(said)):
        jsonschema.validate(merged(VALUES, wrong), SCHEMA)


def test_the_delay_of_the_archive_has_the_limits_of_its_setting():
    """A pod with another one would not start."""
    (setting,) = (each for each in dataclasses.fields(Settings) if each.name == "archive_delay")
    limits = SCHEMA["properties"]["archive"]["properties"]["delay"]
    given = {"minimum": setting.metadata["minimum"], "maximum": setting.metadata["maximum"]}
    assert limits == {"type": "integer", **given}


@pytest.mark.parametrize("profile", ["", *PROFILES])
@pytest.mark.parametrize(
    ("job", "keys"), [("normalize", "NormalizeJobOptions"), ("detect", "DetectionJobOptions")]
)
def test_jobs_are_given_keys_that_they_know(profile, job, keys):
    values = merged(VALUES, PROFILES.get(profile, {}))
    assert values["jobs"][job]["config"].keys() <= job_defaults(job, keys).keys()


def test_refused_keys_are_those_that_the_chart_gives():
    refused = set(SCHEMA["definitions"]["job"]["properties"]["config"]["propertyNames"]["not"]["enum"])
    template = (CHART / "templates/jobs.yaml").read_text()
    given = set(re.findall(r"^    ((?:kafka|clickhouse)\.[a-z-]+):", template, re.MULTILINE))
    assert given < refused
    assert (
        refused
        < job_defaults("normalize", "NormalizeJobOptions").keys()
        & job_defaults("detect", "DetectionJobOptions").keys()
    )


def test_images_are_those_of_the_containers():
    services = yaml.safe_load((REPOSITORY / "docker/compose.yaml").read_text())["services"]
    images = VALUES["images"]
    assert images["fluentBit"] == services["fluentbit"]["image"]
    assert images["superset"] == services["superset-setup"]["image"]
    assert VALUES["clickhouse"]["operator"]["image"] == services["clickhouse"]["image"]
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
    assert {images[name] for name in ("tools", "flink", "superset")} == {
        f"tailrace/{name}:{version}" for name in ("tools", "flink", "superset")
    }


def test_files_of_others_are_linked_and_not_copied():
    links = {path.name: path.resolve() for path in (CHART / "files").iterdir() if path.is_symlink()}
    assert links == {
        "fluent-bit": REPOSITORY / "collectors/fluent-bit",
        "kafka-accounts.yaml": REPOSITORY / "schemas/kafka-accounts.yaml",
        "topics.yaml": REPOSITORY / "schemas/topics.yaml",
        "retention.yaml": REPOSITORY / "sql/retention.yaml",
        "alerts.yaml": REPOSITORY / "embedded/tailrace/health/alerts.yaml",
    }
    assert {path.name for path in Path(CHART / "files").iterdir()} == links.keys()
