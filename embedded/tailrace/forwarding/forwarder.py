"""Forwards the events of one channel: reads the topic in a consumer group of its own, and sends batches.

An offset is committed when every event before it was accepted by the receiver, or is in the topic of
refused events. So a killed process repeats what was not committed, with the same ids. A receiver that is
unavailable stops the reading of this channel only: the topic keeps the events for as long as it is
configured to."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from queue import SimpleQueue

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tailrace.forwarding.batch import Batch, Source
from tailrace.forwarding.refused import RefusedEvents
from tailrace.forwarding.status import Status
from tailrace.outputs.backoff import pause_seconds
from tailrace.outputs.event_channels import EARLIEST, EventChannel
from tailrace.outputs.receivers import receiver_of
from tailrace.outputs.record import FAILED, REFUSED, Outcome, Receiver
from tailrace.plural import counted

TOPIC = "tailrace.events"
GROUP_PREFIX = "tailrace-forward-"
PATIENCE_SECONDS = 60
"""Kafka excludes a consumer that does not poll for five minutes. After this time the consumer polls,
paused."""
OPTIONS = {
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "queued.max.messages.kbytes": 65_536,
    "fetch.max.bytes": 16_777_216,
    "partition.assignment.strategy": "cooperative-sticky",
}
KAFKA_SECONDS = 30
READ_SECONDS = 0.5

Report = Callable[[str], None]


@dataclass
class _Sent:
    """A batch that is on its way."""

    done: Future
    ends: dict[int, int]
    """The offset after the last message, by partition."""


class Forwarder:
    """Runs until it is stopped. `settings` returns the configuration of a Kafka client with the given
    options.

    `number` distinguishes the processes of a channel. Kafka recognizes a process that was killed and started
    again by it, instead of waiting 45 s for the killed one.
    """

    def __init__(
        self,
        channel: EventChannel,
        settings: Callable[[dict[str, object]], dict[str, object]],
        status: Status,
        report: Report,
        number: int = 0,
    ) -> None:
        self._channel = channel
        self._status = status
        self._report = report
        self._stop = threading.Event()
        group = {"group.id": f"{GROUP_PREFIX}{channel.name}", "group.instance.id": f"{channel.name}-{number}"}
        self._consumer = Consumer(settings({**OPTIONS, **group}))
        self._refused = RefusedEvents(channel.name, settings)
        self._source = Source(channel)
        self._receivers: SimpleQueue[Receiver] = SimpleQueue()
        for _ in range(channel.parallel):
            self._receivers.put(receiver_of(channel.receiver))
        self._sent: deque[_Sent] = deque()
        self._ends: dict[int, int] = {}
        """Offsets to commit, by partition."""
        self._early: list[Message] = []
        """Messages of partitions that were assigned while the consumer was paused."""

    def stop(self) -> None:
        """Ends `run` after the running requests."""
        self._stop.set()

    def run(self) -> None:
        """Raises KafkaException if Kafka refuses the consumer, and any error of a bug."""
        self._consumer.subscribe([TOPIC], on_assign=self._assigned)
        with ThreadPoolExecutor(self._channel.parallel, thread_name_prefix=self._channel.name) as pool:
            try:
                while not self._stop.is_set():
                    self._read(pool)
                    self._finish(len(self._sent) >= self._channel.parallel)
                self._finish(len(self._sent))
            except StoppedError:
                pass  # what was not delivered is read again at the next start
            finally:
                self._stop.set()
        self._consumer.close()

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Begins where the group was. A new group begins at once, so that a crash before the first commit
        loses nothing."""
        for place in consumer.committed(partitions, timeout=KAFKA_SECONDS):
            if place.offset < 0:
                low, high = consumer.get_watermark_offsets(place, timeout=KAFKA_SECONDS)
                place.offset = low if self._channel.begins == EARLIEST else high
                consumer.commit(offsets=[place], asynchronous=False)
            self._source.begin(place.partition, place.offset)
        consumer.incremental_assign(partitions)

    def _read(self, pool: ThreadPoolExecutor) -> None:
        messages, self._early = self._early, []
        deadline = time.monotonic() + self._channel.batch_interval
        while (missing := self._channel.batch_events - len(messages)) > 0 and time.monotonic() < deadline:
            # A short time, because no signal is handled meanwhile.
            found = self._consumer.consume(missing, timeout=READ_SECONDS)
            messages += [message for message in found if not self._is_error(message)]
            self._status.beat(self._lag())
            if self._stop.is_set():
                return
        if not messages:
            return
        batch = self._source.batch(messages)
        self._status.count(read=len(messages), skipped=batch.skipped, missed=batch.missed)
        if batch.missed:
            missed = counted(batch.missed, "unread event was", "unread events were")
            self._report(f"{self._channel.name}: {missed} deleted")
        self._sent.append(_Sent(pool.submit(self._deliver, batch), batch.ends))

    def _is_error(self, message: Message) -> bool:
        """Reports an error that Kafka recovers from. Raises KafkaException for any other."""
        error = message.error()
        if error is not None and not error.retriable():
            raise KafkaException(error)
        if error is not None:
            self._report(f"{self._channel.name}: Kafka: {error.str()}")
        return error is not None

    def _lag(self) -> int:
        """Returns the number of unread messages that Kafka has reported to the consumer."""
        offsets = self._source.offsets()
        places = [place for place in self._consumer.assignment() if place.partition in offsets]
        ends = {place.partition: self._consumer.get_watermark_offsets(place, cached=True) for place in places}
        return sum(max(0, high - offsets[partition]) for partition, (_, high) in ends.items())

    def _finish(self, wait_for: int) -> None:
        """Commits finished batches in order. `wait_for`: so many of the oldest, although they are not
        finished."""
        while self._sent and (wait_for > 0 or self._sent[0].done.done()):
            try:
                self._sent[0].done.result(PATIENCE_SECONDS)
            except NotYet:
                self._poll_paused()
                continue
            self._ends.update(self._sent.popleft().ends)
            wait_for -= 1
        if self._ends:
            self._commit()

    def _commit(self) -> None:
        """Commits the offsets of the partitions that the consumer still has; another one repeats the
        others."""
        mine = {place.partition for place in self._consumer.assignment()}
        offsets = [TopicPartition(TOPIC, number, end) for number, end in self._ends.items() if number in mine]
        try:
            if offsets:
                self._consumer.commit(offsets=offsets, asynchronous=False)
            self._ends.clear()
        except KafkaException as error:  # partitions are being distributed: tried again with the next batch
            self._report(f"{self._channel.name}: offsets are committed later: {error.args[0].str()}")

    def _poll_paused(self) -> None:
        """Polls without reading, so that Kafka does not exclude the consumer."""
        partitions = self._consumer.assignment()
        self._consumer.pause(partitions)
        self._early += self._consumer.consume(self._channel.batch_events, timeout=0)
        self._consumer.resume(partitions)
        self._status.beat(self._lag())

    def _deliver(self, batch: Batch) -> None:
        """Sends a batch until every record is delivered or refused. Raises Stopped if it was stopped
        before."""
        receiver = self._receivers.get()
        try:
            if batch.damaged:
                self._refuse([(message, "", reason) for message, reason in batch.damaged])
            waiting, failures = batch, 0
            while waiting.records:
                outcomes = receiver.send(waiting.records)
                waiting = self._after(waiting, outcomes)
                if waiting.records:
                    failures += 1
                    self._retry(outcomes, failures)
        finally:
            self._receivers.put(receiver)

    def _after(self, batch: Batch, outcomes: Sequence[Outcome]) -> Batch:
        """Counts and stores outcomes; returns the records that failed."""
        refused = batch.only(outcomes, REFUSED)
        failed = batch.only(outcomes, FAILED)
        if refused.records:
            details = [outcome.detail for outcome in outcomes if outcome.outcome == REFUSED]
            ids = [record.id for record in refused.records]
            self._refuse(list(zip(refused.messages, ids, details, strict=True)))
        delivered = len(batch.records) - len(refused.records) - len(failed.records)
        self._status.count(delivered=delivered, failed=len(failed.records))
        reason = next((outcome.detail for outcome in outcomes if outcome.outcome == REFUSED), "")
        self._status.answered(delivered, len(refused.records), reason)
        return failed

    def _refuse(self, refused: Sequence[tuple[Message, str, str]]) -> None:
        self._refused.store(refused)
        self._status.count(refused=len(refused))
        self._report(
            f"{self._channel.name}: {counted(len(refused), 'event was', 'events were')} refused: "
            f"{refused[0][2]}"
        )

    def _retry(self, outcomes: Sequence[Outcome], failures: int) -> None:
        """Waits after the failure with this number, for longer if the receiver asks for it."""
        failed = [outcome for outcome in outcomes if outcome.outcome == FAILED]
        if self._status.problem(failed[0].detail):
            self._report(f"{self._channel.name}: failed, tried again: {failed[0].detail}")
        pause = pause_seconds(failures, self._channel.retry_initial, self._channel.retry_max)
        if self._stop.wait(max(pause, *(outcome.retry_after or 0 for outcome in failed))):
            raise StoppedError


class StoppedError(Exception):
    """The forwarder was stopped before a batch was delivered."""
