"""Suppressions: until a given time, new alerts of a rule or an entity are marked `silenced` and not sent.

The detect job reads a suppression as a record of the compacted topic tailrace.rules
(schemas/rules.schema.json, key `silence/<id>`); an empty record ends it. Actor and reason are appended to
tailrace.silences first, so that no suppression takes effect without a record.
"""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from confluent_kafka import KafkaError, KafkaException, Producer

from tailrace.alerts.triage import RULE_IS, AlertError, UnconfirmedError
from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.clickhouse.query_files import text_of
from tailrace.kafka.client import KafkaClient

QUERY = "alerts_silences"
TOPIC = "tailrace.rules"
TIMEOUT_SECONDS = 20
PRODUCER = {
    "enable.idempotence": True,
    "message.timeout.ms": TIMEOUT_SECONDS * 1000,
    "log_level": 0,
}
COLUMNS = ("silence_id", "action", "rule", "entity", "until", "actor", "reason")
NOT_PUBLISHED = "could not be published: it never began"
ACTIVE = ("in force", "unconfirmed")
AMBIGUOUS = (
    KafkaError._MSG_TIMED_OUT,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
)
"""Errors after which it is unknown whether the broker has stored the record."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Silence:
    """The alerts to suppress, and the end of the suppression."""

    rule: str
    """Id of the rule; empty: any rule."""
    entity: Mapping[str, str]
    """Required values of fields of the alert's entity; empty: any entity."""
    until: datetime
    actor: str
    reason: str


def producer(kafka: KafkaClient) -> Producer:
    """Creates a producer and verifies that a broker answers. Raises AlertError."""
    connected = Producer(kafka.settings(PRODUCER))
    try:
        connected.list_topics(TOPIC, timeout=TIMEOUT_SECONDS)
    except KafkaException as error:
        raise AlertError(
            f"Kafka at {kafka.address} does not answer, nothing was changed: {error}; see: tailrace status"
        ) from error
    return connected


def suppress(clickhouse: ClickHouse, producer: Producer, silence: Silence) -> str:
    """Publishes a silence and returns its id. Raises AlertError if Kafka rejects it.

    After an error the history records that the suppression never began, or that its state is unknown.
    """
    id_ = str(uuid.uuid4())
    _append(clickhouse, id_, "begin", silence, silence.reason)
    try:
        _publish(producer, id_, json.dumps(_record(id_, silence)).encode())
    except UnconfirmedError as error:
        _append(clickhouse, id_, "unconfirmed", silence, str(error))
        end_it = f"tailrace alerts unsuppress {id_[:8]} --reason …"
        raise AlertError(f"{error}: it may or may not be active; this ends it: {end_it}") from error
    except AlertError:
        _append(clickhouse, id_, "end", silence, NOT_PUBLISHED)
        raise
    return id_


def lift(clickhouse: ClickHouse, producer: Producer, prefix: str, actor: str, reason: str) -> str:
    """Ends a suppression early; returns its id.

    Raises AlertError, and UnconfirmedError if it may have ended; the history then records that its state is
    unknown, and it can be ended again.
    """
    row = _find(clickhouse, prefix)
    until = datetime.fromisoformat(str(row["until"])).replace(tzinfo=UTC)
    silence = Silence(str(row["rule"]), dict(row["entity"]), until, actor, reason)
    try:
        _publish(producer, str(row["id"]), None)
    except UnconfirmedError as error:
        _append(clickhouse, str(row["id"]), "unconfirmed", silence, str(error))
        raise UnconfirmedError(f"{error}: it may or may not have ended; end it again") from error
    _append(clickhouse, str(row["id"]), "end", silence, reason)
    return str(row["id"])


def history(clickhouse: ClickHouse, everything: bool = False) -> list[Row]:
    """Returns suppressions that are or may be active, ordered by their end; `everything`: also past ones."""
    rows = clickhouse.rows(text_of(QUERY))
    return [row for row in rows if everything or row["state"] in ACTIVE]


def rule_id(clickhouse: ClickHouse, given: str) -> str:
    """Returns the id of a rule, given its id, its title or a part of its title. Raises AlertError.

    Only titles of rules that have fired are known; any other rule must be given by its id.
    """
    rows = clickhouse.rows(
        f"SELECT DISTINCT rule_id, rule_title FROM tailrace.alerts WHERE {RULE_IS} ORDER BY rule_title",
        {"rule": given},
    )
    exact = {row["rule_id"] for row in rows if given in (row["rule_id"], row["rule_title"])}
    ids = exact or {row["rule_id"] for row in rows}
    if len(ids) == 1:
        return str(ids.pop())
    if ids:
        titles = ", ".join(sorted({str(row["rule_title"]) for row in rows})[:4])
        raise AlertError(f"{given!r} matches the titles of several rules: {titles}; give an id")
    if _UUID.fullmatch(given.lower()):
        return given.lower()
    raise AlertError(f"no rule with {given!r} in its title has fired; give the rule's id")


def _find(clickhouse: ClickHouse, prefix: str) -> Row:
    found = [row for row in history(clickhouse) if str(row["id"]).startswith(prefix.lower())]
    if not found:
        raise AlertError(
            f"no active suppression {prefix}; `tailrace alerts suppressions --all` also lists ended ones"
        )
    if len(found) > 1:
        raise AlertError(f"{prefix} matches the ids of several suppressions; give more digits")
    return found[0]


def _append(clickhouse: ClickHouse, id_: str, action: str, silence: Silence, reason: str) -> None:
    row = {
        "silence_id": id_,
        "action": action,
        "rule": silence.rule,
        "entity": dict(silence.entity),
        "until": f"{silence.until:%Y-%m-%d %H:%M:%S}",
        "actor": silence.actor,
        "reason": reason,
    }
    clickhouse.insert(f"tailrace.silences ({', '.join(COLUMNS)})", [row])


def _record(id_: str, silence: Silence) -> dict[str, object]:
    """Returns the record in the format of schemas/rules.schema.json."""
    return {
        "id": id_,
        "rule": silence.rule,
        "entity": dict(silence.entity),
        "until": f"{silence.until:%Y-%m-%dT%H:%M:%SZ}",
        "actor": silence.actor,
        "reason": silence.reason,
        "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }


def _publish(producer: Producer, id_: str, value: bytes | None) -> None:
    refused: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: object) -> None:
        if error is not None:
            refused.append(error)

    try:
        producer.produce(TOPIC, key=f"silence/{id_}", value=value, on_delivery=delivered)
        left = producer.flush(TIMEOUT_SECONDS + 1)
    except KafkaException as error:
        raise AlertError(f"Kafka did not accept the suppression: {error}") from error
    if left or any(error.code() in AMBIGUOUS for error in refused):
        raise UnconfirmedError(f"Kafka did not confirm the suppression within {TIMEOUT_SECONDS} s")
    if refused:
        raise AlertError(f"Kafka did not accept the suppression: {refused[0].str()}")
