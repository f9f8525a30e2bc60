"""Kafka's accounts in the list and in the arguments of programs."""

import argparse
from pathlib import Path

from confluent_kafka.admin import ResourcePatternType, ResourceType

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.credentials.certificates import Certificates
from tailrace.forwarding.forwarder import GROUP_PREFIX
from tailrace.kafka import accounts as kafka_accounts
from tailrace.kafka import client as kafka_client
from tailrace.kafka import topics
from tailrace_local import kafka as local_kafka


def test_accounts_name_topics_that_exist_each_with_one_writer():
    accounts = {account.name: account for account in kafka_accounts.accounts()}
    collected = {*accounts["collector"].write} & {*accounts["pull"].write}
    others = {"tailrace.files", "tailrace.signed_ranges", "tailrace.snapshots"}
    assert all(topic.endswith(".lines") or topic in others for topic in collected)
    pulled_alone = [topic for topic in accounts.pop("pull").write if topic not in collected]
    written = [*(topic for account in accounts.values() for topic in account.write), *pulled_alone]
    read = {topic for account in kafka_accounts.accounts() for topic in account.read}
    names = {topic.name for topic in topics.load()}
    assert sorted(written) == sorted(names)
    assert read < names


def test_an_asterisk_stands_for_the_groups_of_all_channels():
    (account,) = [each for each in kafka_accounts.accounts() if each.name == "forwarding"]
    (group,) = [right for right in account.rights() if right.restype == ResourceType.GROUP]
    assert (group.name, group.resource_pattern_type) == (GROUP_PREFIX, ResourcePatternType.PREFIXED)


def test_without_certificates_there_are_no_accounts(tmp_path):
    home, settings = Home(tmp_path), Settings.from_environment({"TAILRACE_HOME": str(tmp_path)})
    assert local_kafka.connect(settings, home, "facts").properties == {}
    assert local_kafka.as_arguments(settings, home, "facts") == ["--kafka", "127.0.0.1:19092"]


def test_arguments_select_an_account_and_contain_no_password(tmp_path):
    home, settings = Home(tmp_path), Settings.from_environment({"TAILRACE_HOME": str(tmp_path)})
    Certificates(home).make()
    words = local_kafka.as_arguments(settings, home, "facts")
    parser = argparse.ArgumentParser()
    kafka_client.add_arguments(parser)

    assert kafka_client.from_arguments(parser.parse_args(words)) == local_kafka.connect(
        settings, home, "facts"
    )
    assert home.secret("kafka-facts") not in " ".join(words)
    assert Path(words[-1]).read_text() == home.secret("kafka-facts")


def test_a_new_secret_replaces_the_old_one(tmp_path):
    home = Home(tmp_path)
    before = home.secret("kafka-facts")
    home.replace_secret("kafka-facts")
    assert home.secret("kafka-facts") not in ("", before)
    assert home.secret_file("kafka-facts").stat().st_mode & 0o077 == 0
