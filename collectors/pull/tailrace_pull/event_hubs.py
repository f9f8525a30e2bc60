"""Messages of an Azure event hub. Source: Azure Monitor, streaming of resource logs to Event Hubs."""

import json
from collections.abc import Iterator
from typing import Any

from tailrace_pull.envelopes import Decoded, EnvelopeError, decode, records
from tailrace_pull.object_records import Undecodable, Wanted
from tailrace_pull.topic_reading import Content, LogOfTopic, Topic


def log_of_hub(hub: Topic, wanted: Wanted, since: int = 0) -> LogOfTopic:
    """`since` is the arrival of the first messages to read, in milliseconds since 1970 UTC; 0 for a day
    before the first visit."""
    return LogOfTopic(hub, wanted.server, wanted, lambda value: Content(entries_of_message(value)), since)


def entries_of_message(value: bytes) -> Iterator[Decoded | Undecodable]:
    """Yields the entries of a message, of all servers and logs."""
    try:
        found: list[dict[str, Any]] = list(records(value.decode()))
    except (EnvelopeError, UnicodeDecodeError) as error:
        yield Undecodable(len(value), str(error))
        return
    for record in found:
        try:
            if (decoded := decode(record)) is not None:
                yield decoded
        except EnvelopeError as error:
            yield Undecodable(len(json.dumps(record).encode()), str(error))
