"""Creates and alters Kafka's topics to match schemas/topics.yaml."""

import time
from dataclasses import dataclass
from pathlib import Path

import yaml
from confluent_kafka import TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from tailrace.config.resources import ROOT

FILE = ROOT / "schemas" / "topics.yaml"
TIMEOUT_SECONDS = 20
RETRY_SECONDS = 0.1


@dataclass(frozen=True)
class Topic:
    """One topic; `config` contains Kafka's names, such as retention.ms."""

    name: str
    partitions: int
    config: dict[str, str]


def load(file: Path = FILE) -> list[Topic]:
    """Reads the topics of the file."""
    return [
        Topic(entry["name"], entry["partitions"], {k: str(v) for k, v in entry["config"].items()})
        for entry in yaml.safe_load(file.read_text())["topics"]
    ]


def apply(admin: AdminClient, topics: list[Topic]) -> None:
    """Creates and alters the cluster's topics. Partitions are only ever added. Raises KafkaException."""
    existing = admin.list_topics(timeout=TIMEOUT_SECONDS).topics
    _create(admin, [topic for topic in topics if topic.name not in existing])
    kept = [topic for topic in topics if topic.name in existing]
    _add_partitions(
        admin, [topic for topic in kept if len(existing[topic.name].partitions) < topic.partitions]
    )
    _configure(admin, kept)
    _await_leaders(admin, topics)


def _create(admin: AdminClient, topics: list[Topic]) -> None:
    new = [NewTopic(topic.name, num_partitions=topic.partitions, config=topic.config) for topic in topics]
    _wait_for(admin.create_topics(new) if new else {})


def _add_partitions(admin: AdminClient, topics: list[Topic]) -> None:
    more = [NewPartitions(topic.name, topic.partitions) for topic in topics]
    _wait_for(admin.create_partitions(more) if more else {})


def _configure(admin: AdminClient, topics: list[Topic]) -> None:
    resources = [
        ConfigResource(ConfigResource.Type.TOPIC, topic.name, incremental_configs=_set(topic))
        for topic in topics
    ]
    _wait_for(admin.incremental_alter_configs(resources) if resources else {})


def _await_leaders(admin: AdminClient, topics: list[Topic]) -> None:
    """Returns when the leader of each partition responds to an offset query, which requires leadership.

    An idempotent producer that starts earlier can have its second batch accepted after its first was refused;
    the first is then out of sequence until it expires, after two minutes.
    """
    waiting = {
        TopicPartition(topic.name, partition): OffsetSpec.latest()
        for topic in topics
        for partition in range(topic.partitions)
    }
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while waiting:
        asked = admin.list_offsets(waiting, request_timeout=TIMEOUT_SECONDS)
        errors = {partition: future.exception(TIMEOUT_SECONDS) for partition, future in asked.items()}
        waiting = {partition: OffsetSpec.latest() for partition, error in errors.items() if error}
        if waiting and time.monotonic() > deadline:
            raise next(error for error in errors.values() if error)
        if waiting:
            time.sleep(RETRY_SECONDS)


def _set(topic: Topic) -> list[ConfigEntry]:
    return [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in topic.config.items()
    ]


def _wait_for(futures: dict) -> None:
    for future in futures.values():
        future.result(TIMEOUT_SECONDS)
