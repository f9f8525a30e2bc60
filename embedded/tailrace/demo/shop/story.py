"""Writes the two days: logs, spans, snapshots and their manifest."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tailrace.demo.shop import attack, incidents, manifest, people, services, spans, traffic
from tailrace.demo.shop.events import Journal
from tailrace.demo.shop.log import Log
from tailrace.demo.shop.servers import SERVERS
from tailrace.demo.shop.times import StoryTimes
from tailrace.demo.shop.traffic import Trace


@dataclass(frozen=True)
class Story:
    """Everything that the demo feeds, and the truth about it."""

    times: StoryTimes
    logs: tuple[Log, ...]
    spans: tuple[bytes, ...]
    """Messages for the topic of spans."""
    manifest: dict[str, Any]

    def log(self, instance: str, source: str) -> Log:
        return next(log for log in self.logs if (log.instance, log.source) == (instance, source))


def write(now: float) -> Story:
    """Returns the story that ends at `now`, seconds since 1970 UTC."""
    times = StoryTimes.ending(now)
    journals = {server.instance: Journal() for server in SERVERS}
    traces = [
        trace
        for service in services.SERVICES
        for trace in traffic.run(service, times, journals[service.instance])
    ]
    facts = _add_stories(times, journals)
    logs = tuple(log for server in SERVERS for log in server.logs(journals[server.instance], times))
    past = {instance: journal.until(times.now) for instance, journal in journals.items()}
    return Story(times, logs, _messages(traces), manifest.write(times, past, logs, traces, facts))


def _add_stories(times: StoryTimes, journals: dict[str, Journal]) -> dict[str, dict[str, Any]]:
    source, replica = journals["shop-db-1"], journals["shop-db-2"]
    people.add_work(times, source)
    incidents.add_warehouse(times, source)
    _add_messages(times, journals)
    return {
        "dropped_index": people.add_dropped_index(times, source),
        "deadlocks": incidents.add_deadlocks(times, source),
        "replica": incidents.add_replica(times, replica),
        "spray": attack.add(times, source),
        "new_account": people.add_new_account(times, source),
        "export": people.add_export(times, source),
    }


def _add_messages(times: StoryTimes, journals: dict[str, Journal]) -> None:
    add = partial(incidents.add_aborted_connections, times)
    for service in services.SERVICES:
        code = "[MY-010914] [Server] " if service.instance == "billing-db-1" else ""
        add(service.instance, code, service.user, journals[service.instance])


def _messages(traces: Iterable[Trace]) -> tuple[bytes, ...]:
    return tuple(spans.messages(services.SHOP_WEB, traces))
