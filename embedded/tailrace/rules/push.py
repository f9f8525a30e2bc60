"""Pushes rules: all files of a directory in one record of tailrace.rules, so that a push is atomic.

schemas/rules.schema.json describes the record. The detect job writes the result to tailrace.rule_pushes.
"""

import fcntl
import getpass
import json
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tailrace.clickhouse.client import ClickHouse
from tailrace.config.resources import ROOT
from tailrace.errors import ReportedError
from tailrace.kafka.client import KafkaClient

OWN = ROOT / "rules"
"""The rules of this repository."""

TOPIC = "tailrace.rules"
BUNDLE = "bundle"
"""Key of the last push that a job applied, or of the first."""
CANDIDATE = "candidate"
"""Key of a push that no job has confirmed yet. The topic is compacted: with a single key, a rejected push
would be the only record left, and a job that starts without state would have no rules."""

VERSION = 1
MAX_BYTES = 19_000_000
"""The topic accepts 20 MB."""

TIMEOUT_SECONDS = 30
RETRY_SECONDS = 0.1
POLL_SECONDS = 0.2


class RulesError(ReportedError):
    """Rules cannot be pushed; the message states the reason."""


@dataclass(frozen=True)
class Outcome:
    """The detect job's result of a push."""

    accepted: bool
    rules: int
    detectors: int
    classes: int
    message: str


def files(directory: Path) -> dict[str, str]:
    """Returns the texts of a directory's YAML files by their relative paths. Raises RulesError."""
    if not directory.is_dir():
        raise RulesError(f"{directory} is no directory; name the directory of your rules")
    found = {}
    for path in sorted((*directory.rglob("*.yml"), *directory.rglob("*.yaml"))):
        if path.is_dir():
            continue
        try:
            found[path.relative_to(directory).as_posix()] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise RulesError(f"{path}: expected UTF-8: {error.reason}") from None
        except OSError as error:
            raise RulesError(f"{path} cannot be read: {error.strerror}") from None
    if not found:
        raise RulesError(f"{directory} contains no .yml or .yaml file")
    return found


@contextmanager
def push_lock(run: Path, seconds: float) -> Iterator[None]:
    """Serializes the pushes of one stack, from the candidate to its outcome.

    Otherwise a push that is confirmed late would become the bundle after a newer one, and end the newer
    candidate. A later push waits, and wins. The lock belongs to the process, so a killed push releases it.

    Raises RulesError if another push does not finish within that time: then nothing was pushed.
    """
    deadline = time.monotonic() + seconds
    with (run / "rules-push.lock").open("a") as lock:
        while not _taken(lock):
            if time.monotonic() > deadline:
                raise RulesError(
                    "nothing was pushed: another push is in progress; push again when it is done"
                )
            time.sleep(RETRY_SECONDS)
        yield


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@dataclass(frozen=True)
class Push:
    """The record of a push."""

    id: str
    value: bytes


def push(kafka: KafkaClient, texts: dict[str, str]) -> Push:
    """Writes a push as a candidate. Raises RulesError."""
    candidate = _record(texts)
    _produce(kafka, {CANDIDATE: candidate.value})
    return candidate


def promote_candidate(
    kafka: KafkaClient, clickhouse: ClickHouse, candidate: Push, seconds: float
) -> Outcome | None:
    """Promotes a candidate to the bundle if the job accepts it, and removes it if the job rejects it.

    Returns the job's result; None if there is none in that time. Raises RulesError.
    """
    outcome = await_outcome(clickhouse, candidate.id, seconds)
    if outcome is not None:
        _produce(kafka, {**({BUNDLE: candidate.value} if outcome.accepted else {}), CANDIDATE: None})
    return outcome


def promote_last_candidate(kafka: KafkaClient, clickhouse: ClickHouse) -> None:
    """Promotes or removes the candidate of a push without wait, before the next one replaces it."""
    candidate = _candidate(kafka)
    if candidate is not None:
        promote_candidate(kafka, clickhouse, candidate, 0)


def _record(texts: dict[str, str]) -> Push:
    push_id = str(uuid.uuid4())
    record = {
        "version": VERSION,
        "push_id": push_id,
        "pushed_at": datetime.now(UTC).isoformat(),
        "pushed_by": f"{getpass.getuser()}@{socket.gethostname()}",
        "files": texts,
    }
    value = json.dumps(record, ensure_ascii=False).encode()
    if len(value) > MAX_BYTES:
        raise RulesError(f"the rules are {len(value)} bytes; a push has at most {MAX_BYTES}")
    return Push(push_id, value)


def _produce(kafka: KafkaClient, values: Mapping[str, bytes | None]) -> None:
    """Writes records by their keys, in this order; None deletes a key."""
    failures = []
    producer = Producer(
        kafka.settings(
            {
                "message.max.bytes": 20_000_000,
                "message.timeout.ms": TIMEOUT_SECONDS * 1000,
                "enable.idempotence": True,
                "log_level": 0,
                "error_cb": _ignore,
            }
        )
    )
    for key, value in values.items():
        producer.produce(
            TOPIC, value, key, on_delivery=lambda error, _: error and failures.append(error.str())
        )
    left = producer.flush(TIMEOUT_SECONDS + 5)
    if failures or left:
        raise RulesError(
            f"Kafka at {kafka.address} did not accept the push: {failures[0] if failures else 'no answer'}"
        )


def push_first(kafka: KafkaClient, run: Path) -> None:
    """Pushes the repository's rules if there was no push yet. Raises RulesError.

    Only then it takes the lock: a push that waits for the job must not delay the job's start.
    """
    if _is_pushed(kafka):
        return
    with push_lock(run, TIMEOUT_SECONDS):
        if not _is_pushed(kafka):
            _produce(kafka, {BUNDLE: _record(files(OWN)).value})


def _is_pushed(kafka: KafkaClient) -> bool:
    with _consumer(kafka) as consumer:
        low, high = _offsets(consumer)
    return low != high


def newest_files(kafka: KafkaClient) -> dict[str, str]:
    """Returns the files of the newest push that no job rejected; none without any. Raises RulesError."""
    records = dict(_records(kafka))
    newest = records.get(CANDIDATE) or records.get(BUNDLE)
    return json.loads(newest)["files"] if newest else {}


def _candidate(kafka: KafkaClient) -> Push | None:
    """Returns the newest candidate that was not removed. Raises RulesError."""
    newest = None
    for key, value in _records(kafka):
        newest = value if key == CANDIDATE else newest
    return Push(json.loads(newest)["push_id"], newest) if newest else None


def _records(kafka: KafkaClient) -> Iterator[tuple[str, bytes | None]]:
    """Yields the keys and values of the topic, oldest first. Raises RulesError."""
    with _consumer(kafka) as consumer:
        low, high = _offsets(consumer)
        consumer.assign([TopicPartition(TOPIC, 0, low)])
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while low < high and consumer.position([TopicPartition(TOPIC, 0)])[0].offset < high:
            message = consumer.poll(RETRY_SECONDS)
            if message is not None and not message.error():
                yield (message.key() or b"").decode(), message.value()
            if time.monotonic() > deadline:
                raise RulesError(f"{TOPIC} could not be read within {TIMEOUT_SECONDS} s")


@contextmanager
def _consumer(kafka: KafkaClient) -> Iterator[Consumer]:
    consumer = Consumer(
        kafka.settings(
            {
                "group.id": "tailrace-rules",
                "enable.auto.commit": False,
                "log_level": 0,
                "error_cb": _ignore,
            }
        )
    )
    try:
        yield consumer
    finally:
        consumer.close()


def _offsets(consumer: Consumer) -> tuple[int, int]:
    """Returns the first offset of the topic and the one after its last. Raises RulesError."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            return consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=TIMEOUT_SECONDS)
        except KafkaException as error:  # a new topic has no leader yet
            if time.monotonic() > deadline:
                raise RulesError(f"{TOPIC} cannot be read: {error.args[0].str()}") from None
            time.sleep(RETRY_SECONDS)


def await_outcome(clickhouse: ClickHouse, push_id: str, seconds: float) -> Outcome | None:
    """Returns the job's result of a push; None if there is none in that time. Queries at least once."""
    deadline = time.monotonic() + seconds
    while True:
        found = clickhouse.rows(
            "SELECT accepted, rules, detectors, classes, message FROM tailrace.rule_pushes "
            "WHERE push_id = {push:String} ORDER BY at DESC LIMIT 1",
            {"push": push_id},
        )
        if found:
            return Outcome(**found[0])
        if time.monotonic() > deadline:
            return None
        time.sleep(POLL_SECONDS)


def _ignore(error: object) -> None:
    """Ignores the client's background errors, which the call itself raises again."""
