"""The ordinary requests of a service: sessions, statements and traces in a daily pattern."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tailrace.demo.shop import services
from tailrace.demo.shop.events import Execution, Journal, Session
from tailrace.demo.shop.services import Endpoint, Service, Step
from tailrace.demo.shop.times import DAY, HOUR, StoryTimes

SHARE_OF_HOUR = (
    *(0.16, 0.10, 0.07, 0.06, 0.07, 0.12, 0.25, 0.45, 0.62, 0.74, 0.82, 0.88),
    *(0.95, 0.90, 0.84, 0.80, 0.82, 0.88, 0.95, 1.00, 0.97, 0.82, 0.55, 0.31),
)
"""The requests of each hour of the day (UTC), as a share of the busiest one."""

CONNECTIONS_PER_ADDRESS = 2
SPREAD = 0.32
"""Standard deviation of the logarithm of a duration."""
SAMPLED = 1 / 3
"""The share of requests whose spans the application sends."""


@dataclass(frozen=True)
class Call:
    """One statement of a trace."""

    span: str
    text: str
    at: float
    seconds: float


@dataclass(frozen=True)
class Trace:
    """One request and its statements."""

    id: str
    root: str
    endpoint: Endpoint
    version: str
    calls: tuple[Call, ...]


def run(service: Service, times: StoryTimes, journal: Journal) -> list[Trace]:
    """Adds the sessions of a service to the journal of its server; returns the traces that it sends."""
    traces: list[Trace] = []
    for hour in times.hours():
        random = times.random(service.name, hour)
        requests = list(_requests(service, times, hour, random))
        traces += [trace for trace, _ in requests if trace]
        _add_sessions(service, times, hour, [executions for _, executions in requests], journal)
    return traces


def _requests(
    service: Service, times: StoryTimes, hour: int, random: Random
) -> Iterator[tuple[Trace | None, list[Execution]]]:
    share = max(service.at_night, SHARE_OF_HOUR[hour % DAY // HOUR])
    starts = sorted(hour + random.random() * HOUR for _ in range(round(service.requests_per_hour * share)))
    weights = [endpoint.share for endpoint in service.endpoints]
    for start in starts:
        endpoint = random.choices(service.endpoints, weights)[0]
        trace, executions = _request(service, times, endpoint, start, random)
        yield trace if trace.calls[-1].at + 1 < times.now and _is_sent(service, trace) else None, executions


def _is_sent(service: Service, trace: Trace) -> bool:
    return service.traced and int(trace.id[:8], 16) < SAMPLED * 2**32


def _request(
    service: Service, times: StoryTimes, endpoint: Endpoint, start: float, random: Random
) -> tuple[Trace, list[Execution]]:
    trace, root = f"{random.getrandbits(128) or 1:032x}", f"{random.getrandbits(64) or 1:016x}"
    version = services.version(times, start)
    at, calls, executions = start, [], []
    for step in endpoint.page(random, times, start):
        seconds = step[0].milliseconds / 1000 * math.exp(random.gauss(0, SPREAD))
        span = f"{random.getrandbits(64) or 1:016x}"
        comment = _comment(service, endpoint, version, f"00-{trace}-{span}")
        executions.append(_execution(step, at, seconds, comment))
        calls.append(Call(span, step[0].text, at, seconds))
        at += seconds + 0.0004
    return Trace(trace, root, endpoint, version, tuple(calls)), executions


def _execution(step: Step, at: float, seconds: float, comment: str) -> Execution:
    statement, values = step
    return Execution(
        at,
        Session(0, "", "", ""),
        f"{statement.text % values} {comment}",
        round(seconds, 6),
        statement.sent,
        statement.examined,
        statement.affected,
        plan=statement.plan,
    )


def _comment(service: Service, endpoint: Endpoint, version: str, traceparent: str) -> str:
    """Returns the tags of a statement in the form of sqlcommenter."""
    if not service.traced:
        return f"/*application='{service.name}',route='{_escaped(endpoint.route)}'*/"
    sampled = f"{int(int(traceparent[3:11], 16) < SAMPLED * 2**32):02}"
    return (
        f"/*application='{service.name}',route='{_escaped(endpoint.route)}',"
        f"traceparent='{traceparent}-{sampled}',version='{version}'*/"
    )


def _escaped(route: str) -> str:
    return route.replace("/", "%2F").replace("{", "%7B").replace("}", "%7D")


def _add_sessions(
    service: Service, times: StoryTimes, hour: int, requests: list[list[Execution]], journal: Journal
) -> None:
    """Divides the requests of an hour among the connections of a pool, which are renewed every hour."""
    slots = [address for address in service.addresses for _ in range(CONNECTIONS_PER_ADDRESS)]
    for number, address in enumerate(slots):
        mine = [execution for request in requests[number :: len(slots)] for execution in request]
        connection = 1000 + ((hour - times.midnight) // HOUR + 48) * 20 + number
        journal.session(Session(connection, service.user, address, service.database, service.name), mine)
