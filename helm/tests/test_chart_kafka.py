"""Topics, users and clients of Kafka in the rendered chart."""

import argparse
import re
from pathlib import Path

import pytest
import yaml

from docker.tests.test_compose import job_defaults
from helm.tests.conftest import EVERYTHING, RELEASE
from helm.tests.test_chart import configuration, containers, pods
from tailrace.kafka import accounts as kafka_accounts
from tailrace.kafka import client as kafka_client
from tailrace.kafka import topics

pytestmark = pytest.mark.long  # Helm is built


def test_topics_are_those_of_the_list(render):
    made = [
        each for each in render("", "kafka.strimzi.partitions.otlp_spans=9") if each["kind"] == "KafkaTopic"
    ]
    given = {each["spec"]["topicName"]: each["spec"] for each in made}
    assert given.keys() == {topic.name for topic in topics.load()}
    for topic in topics.load():
        spec = given[topic.name]
        assert spec["partitions"] == (9 if topic.name == "otlp_spans" else topic.partitions)
        assert spec["config"] == {**topic.config, "min.insync.replicas": "1"}


def test_users_name_topics_that_exist_and_groups_of_the_jobs(everything):
    users = {name: each for (kind, name), each in everything.items() if kind == "KafkaUser"}
    names, writers = {topic.name for topic in topics.load()}, {}
    for user, each in users.items():
        for acl in each["spec"]["authorization"]["acls"]:
            if acl["resource"]["type"] == "topic":
                assert acl["resource"]["name"] in names
                if "Write" in acl["operations"]:
                    writers.setdefault(acl["resource"]["name"], set()).add(user)
    # Everything has exactly one writer, except that pull writes what the collector writes, of other servers.
    assert writers.keys() == names
    pulled = {name for name, its in writers.items() if "tailrace-pull" in its}
    assert all(writers[name] <= {"tailrace-collector", "tailrace-pull"} for name in pulled)
    assert all(len(its) == 1 for name, its in writers.items() if name not in pulled)
    acls = users["tailrace-pull"]["spec"]["authorization"]["acls"]
    (transactions,) = (acl for acl in acls if acl["resource"]["type"] == "transactionalId")
    prefix = {"type": "transactionalId", "name": "tailrace-pull-", "patternType": "prefix"}
    assert transactions == {"resource": prefix, "operations": ["Write", "Describe"]}
    for job, keys in (("normalize", "NormalizeJobOptions"), ("detect", "DetectionJobOptions")):
        defaults = job_defaults(job, keys)
        read = {
            acl["resource"]["name"]
            for acl in users[f"tailrace-{job}"]["spec"]["authorization"]["acls"]
            if "Read" in acl["operations"]
        }
        asked = {text for key, text in defaults.items() if key.startswith("topics.")}
        lines = re.compile(defaults.get("topics.lines", "").replace("\\\\", "\\") or "$^")
        written = {"tailrace.alerts"} if job == "detect" else {"tailrace.events"}
        expected = {name for name in names if name in asked - written or lines.fullmatch(name)}
        of_topics = {"topics.spans": "spans", "topics.signed-ranges": "signed", "topics.host-keys": "keys"}
        further = {f"{defaults['kafka.group']}-{name}" for key, name in of_topics.items() if key in defaults}
        groups = {defaults["kafka.group"]} | further
        assert read == expected | groups


def test_users_are_those_of_the_list(everything):
    users = {name for kind, name in everything if kind == "KafkaUser"}
    assert users == {account.user for account in kafka_accounts.accounts()}


SECURED = (
    *EVERYTHING,
    "kafka.security.protocol=sasl_ssl",
    "kafka.security.authoritySecret=kafka-cluster-ca-cert",
)


def test_every_client_of_a_secured_kafka_is_an_account_of_its_own(render):
    secured = render("", *SECURED)
    accounts = {}
    for owner, pod in pods(secured).items():
        (account, authority) = kafka_secrets(pod)
        if account:
            accounts[owner.rpartition("/")[2].removeprefix(f"{RELEASE}-")] = account
            assert authority == "kafka-cluster-ca-cert"
    own = ("collector", "normalize", "detect", "facts", "forwarding", "pull", "rules")
    shared = {"capture": "tailrace-collector", "superset": "tailrace-rules"}
    assert accounts == {**{name: f"tailrace-{name}" for name in own}, **shared}
    assert set(accounts.values()) <= {account.user for account in kafka_accounts.accounts()}


def kafka_secrets(pod: dict) -> tuple[str, str]:
    """Of the password and of the authority; empty if the pod has no volume for Kafka."""
    for volume in pod["spec"]["volumes"]:
        if volume["name"] == "kafka":
            mounts = [mount for each in containers(pod) for mount in each.get("volumeMounts", [])]
            assert {"name": "kafka", "mountPath": "/run/kafka", "readOnly": True} in mounts
            sources = [source["secret"] for source in volume["projected"]["sources"]]
            assert [source["items"][0]["path"] for source in sources] == ["password", "ca.crt"]
            return sources[0]["name"], sources[1]["name"]
    return "", ""


def test_clients_of_a_secured_kafka_get_its_settings(render):
    secured = {(each["kind"], each["metadata"]["name"]): each for each in render("", *SECURED)}
    words = pods(list(secured.values()))[f"Deployment/{RELEASE}-facts"]["spec"]["containers"][0]["args"]
    parser = argparse.ArgumentParser()
    kafka_client.add_arguments(parser)
    arguments, _ = parser.parse_known_args(words)
    assert arguments.kafka_password_file == Path("/run/kafka/password")
    arguments.kafka_password_file = None
    assert kafka_client.from_arguments(arguments).properties == {
        "security.protocol": "sasl_ssl",
        "ssl.ca.location": "/run/kafka/ca.crt",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "tailrace-facts",
    }
    job = yaml.safe_load(configuration(secured["FlinkDeployment", f"{RELEASE}-normalize"]["spec"]))
    login = job["kafka.properties.sasl.jaas.config"]
    assert login.endswith('username="tailrace-normalize" password="${files:/run/kafka:password}";')


def test_without_security_nobody_needs_secrets_for_kafka(everything):
    assert all(kafka_secrets(pod) == ("", "") for pod in pods(list(everything.values())).values())
